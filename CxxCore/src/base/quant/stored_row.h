// StoredRow: a row of a stored matrix with its codes as bytes, the form between readers and devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/quant/quant_format.h"

namespace pagoda {

// One buffer: codes [cols], scales [cols / group], minima [cols / group], upper scales and upper minima [cols / super].
struct StoredRow {
  uint8_t* codes;
  std::byte *scales, *mins, *supers, *super_mins;
};

size_t stored_row_bytes(const QuantFormat& format, int64_t cols) noexcept;
StoredRow stored_row(const QuantFormat& format, int64_t cols, std::byte* buffer) noexcept;

struct GroupScales {
  float scale, min;  // a and b of quant_format.h
};
GroupScales group_scales(const QuantFormat& format, const StoredRow& row, int64_t group) noexcept;

// The numbers that a row represents, [cols]. Each product is rounded before it is added, as in the reference
// implementation of GGUF.
void dequantise(const QuantFormat& format, const StoredRow& row, int64_t cols, float* to) noexcept;

}  // namespace pagoda
