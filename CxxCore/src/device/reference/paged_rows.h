// Rows of a paged cache, for the oracles.
#pragma once

#include <cstring>

#include "base/kv_row.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

// First element of (position, kv_head) of a sequence in the cache.
inline int64_t cache_index(const Tensor& cache, const int32_t* blocks, int64_t position, int64_t kv_head) noexcept {
  const int64_t block_size = cache.shape[1];
  return blocks[position / block_size] * cache.strides[0] + position % block_size * cache.strides[1] +
         kv_head * cache.strides[2];
}

// Element i of the row of `dim` that starts at `first`.
inline double cache_element(const Tensor& cache, int64_t first, int64_t dim, int64_t i) noexcept {
  if (cache.dtype != DType::i8) return load(host_data<void>(cache), cache.dtype, first + i);
  const int8_t* row = host_data<int8_t>(cache) + first;
  float scale;
  std::memcpy(&scale, row + kv_scale_offset(dim), sizeof scale);
  return static_cast<double>(scale) * row[i];
}

}  // namespace pagoda::device::reference
