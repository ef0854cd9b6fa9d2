// Fuzzes GGUF files: header, configuration, tokenizer and tensors, with the input as the whole model.
#include <cstddef>
#include <cstdint>

#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/model_files.h"
#include "stored_row.h"
#include "text/bpe/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda;
  const auto files = io::open_model_files({.directory = "", .files = {{"model.gguf", data, size}}});
  if (!files.is_ok()) return 0;
  if (const auto config = (*files)->read_text("config.json", 1 << 22); config.is_ok())
    (void)io::parse_model_config(*config, "config.json");
  if (const auto text = (*files)->read_text("tokenizer.json", 1 << 26); text.is_ok())
    (void)text::SubwordTokenizer::from_json(*text, "tokenizer.json");
  (void)(*files)->read_text("tokenizer_config.json", 1 << 22);
  const auto checkpoint = io::Checkpoint::open(**files);
  if (!checkpoint.is_ok()) return 0;
  for (const auto& [name, tensor] : checkpoint->tensors()) {
    std::vector<float> row(static_cast<size_t>(tensor.shape.back()));
    (void)tensor.decoder->read(0, row);
    read_stored_row(tensor);
  }
  return 0;
}
