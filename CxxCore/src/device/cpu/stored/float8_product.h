// Products with weights of 8-bit floats (E4M3) and a scale per 128 columns of a row.
// Activations are bf16, as for weights in bf16: 8-bit floats span 18 bits, which int8 sums would need three products
// for, and bf16 holds each of them exactly. For every 128 columns, a panel of weights becomes bf16 in the scratch
// memory, the bf16 kernel of the instruction set multiplies it with all rows, and its sums are scaled and added, with
// one rounding each, in the order of columns. So the bits are the same for any number of rows, and as those of bf16
// weights they are the same on all instruction sets without bf16 products of their own (PackedTile).
#pragma once

#include "device/cpu/context.h"
#include "device/cpu/stored/stored_weight.h"

namespace pagoda::device::cpu {

constexpr bool is_float8(WeightFormat format) noexcept {
  return is_stored(format) && quant_format(format).table == CodeTable::float8;
}

// Whether rows are packed as bf16 for a weight in formats of files, all of whose stored pieces then have 8-bit floats.
inline bool takes_bfloats(const Weight& weight) noexcept {
  for (const auto& piece : weight.pieces())
    if (is_float8(piece->format())) return true;
  return is_float8(weight.format());
}

// Packed rows [row, row + num_rows) times channels [begin, begin + count); begin is a multiple of 16.
struct Float8Range {
  int64_t row, num_rows, begin, count;
  const float* bias;  // [count] or null
  float* out;
  int64_t out_stride;
};
void multiply_float8(const Context& context, const StoredWeight& weight, const Float8Range& range, int thread) noexcept;

}  // namespace pagoda::device::cpu
