// Fuzzes quantised safetensors: the input is a configuration, a NUL byte, and a file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/checkpoint.h"
#include "io/model_files.h"
#include "stored_row.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\0');
  if (cut == input.npos) return 0;
  const auto files = io::open_model_files(
      {.directory = "", .files = {{"config.json", data, cut}, {"model.safetensors", data + cut + 1, size - cut - 1}}});
  if (!files.is_ok()) return 0;
  const auto checkpoint = io::Checkpoint::open(**files);
  if (!checkpoint.is_ok()) return 0;
  for (const auto& [name, tensor] : checkpoint->tensors()) {
    if (!tensor.decoder || tensor.shape.back() > (1 << 20)) continue;
    std::vector<float> row(static_cast<size_t>(tensor.shape.back()));
    (void)tensor.decoder->read(0, row);
    read_stored_row(tensor);
  }
  return 0;
}
