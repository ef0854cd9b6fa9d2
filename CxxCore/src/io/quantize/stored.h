// Reads rows of packed tensors as they are: codes of 2 to 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "base/weight_format.h"

namespace pagoda::io {

// An element of 3, 5 or 6 bits may straddle the last byte: readers append this many to each buffer.
constexpr size_t kSpareBytes = 8;

// `scales`: f16, bf16 or f32. Empty for other widths and groups than MLX has.
std::optional<WeightFormat> affine_format(int bits, int64_t group, DType scales) noexcept;

// The largest format whose groups divide `group`; a group's scale is then repeated. Empty for other widths than 4 and 8
// bits, other scales than f16 and bf16, and groups that are no multiple of 32.
std::optional<WeightFormat> integer_format(int bits, int64_t group, DType scales, bool has_zeros) noexcept;

// Codes of `bits` bits, the first in the lowest bits. Reads up to kSpareBytes after the row.
void unpack_codes(const std::byte* packed, int bits, uint64_t count, uint8_t* codes) noexcept;

}  // namespace pagoda::io
