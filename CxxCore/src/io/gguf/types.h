// The element types of GGUF files: their blocks, and how a block encodes numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pagoda::io {

struct GgufType {
  uint32_t id;  // as stored in files
  std::string_view name;
  uint32_t block_size;   // elements
  uint32_t block_bytes;  // bytes per block
  int bits;              // per weight, without scales; determines the packed format
  // Decodes `num_blocks` blocks, bit-identical to the reference implementation. Null: known, but not supported.
  void (*decode)(const std::byte* blocks, uint64_t num_blocks, float* to);
};

// Null for an id that is in no version of the format.
const GgufType* find_gguf_type(uint32_t id) noexcept;

}  // namespace pagoda::io
