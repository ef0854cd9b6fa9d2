// Fuzzes safetensors files: if a file opens, every tensor can be read to its last byte.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto files = pagoda::io::open_model_files({.directory = {}, .files = {{"model.safetensors", data, size}}});
  if (!files.is_ok()) return 0;
  const auto checkpoint = pagoda::io::Checkpoint::open(**files);
  if (!checkpoint.is_ok()) return 0;
  for (const auto& [name, tensor] : checkpoint->tensors()) {
    std::vector<std::byte> bytes(tensor.size_bytes);
    if (!checkpoint->read(tensor, 0, bytes).is_ok()) __builtin_trap();
    if (checkpoint->read(tensor, 1, bytes).is_ok() && !bytes.empty()) __builtin_trap();
  }
  return 0;
}
