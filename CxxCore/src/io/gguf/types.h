// The element types of GGUF files: their blocks, and how a block encodes numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pagoda::io {

struct GgufType {
  uint32_t id;  // as files have it
  std::string_view name;
  uint32_t block_size;   // elements
  uint32_t block_bytes;  // of a block
  int bits;              // per weight, scales aside: what a packed form must hold
  // Numbers of `num_blocks` blocks, to the bit those of the reference implementation. Null: known, but not read.
  void (*decode)(const std::byte* blocks, uint64_t num_blocks, float* to);
};

// Null for an id that no version of the format has.
const GgufType* find_gguf_type(uint32_t id) noexcept;

}  // namespace pagoda::io
