// Layout of one token's key or value of one KV head in a cache: `dim` elements, followed by a float scale for int8.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace pagoda {

constexpr int64_t kKvInt8Align = 16;  // bytes: aligned so that a load of 16 elements never crosses a cache line

// int8 rows: element = scale * int8. The scale (f32) is stored at this byte offset from the row's first element.
constexpr int64_t kv_scale_offset(int64_t dim) noexcept { return (dim + 3) / 4 * 4; }

// Row stride in bytes; a multiple of the element size.
constexpr int64_t kv_row_bytes(DType dtype, int64_t dim) noexcept {
  if (dtype != DType::i8) return dim * static_cast<int64_t>(dtype_bytes(dtype));
  return (kv_scale_offset(dim) + int64_t{sizeof(float)} + kKvInt8Align - 1) / kKvInt8Align * kKvInt8Align;
}

}  // namespace pagoda
