// Reads rows of MLX's packed tensors as they are: codes of 2 to 8 bits.
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

// Codes of `bits` bits, the first in the lowest bits. Reads up to kSpareBytes after the row.
void unpack_codes(const std::byte* packed, int bits, uint64_t count, uint8_t* codes) noexcept;

}  // namespace pagoda::io
