// Packs activation rows, and multiplies a range of packed rows by a range of channels.
#pragma once

#include "device/cpu/context.h"
#include "device/cpu/packed_weight.h"
#include "device/cpu/stored/float8_product.h"
#include "device/cpu/stored/joined_weight.h"
#include "device/cpu/stored/stored_weight.h"

namespace pagoda::device::cpu {

// Whether products of a weight begin at multiples of 16 outputs.
constexpr bool has_blocks(WeightFormat format) noexcept {
  return is_packed(format) || is_stored(format) || format == WeightFormat::stored;
}

inline int64_t padded_cols(int64_t cols) noexcept {
  return (cols + kPackedColumns - 1) / kPackedColumns * kPackedColumns;
}

// Packs `x` [cols] into row `row` of the matmul memory, if products with weights of the format need it.
inline void pack_to(const Context& context, const Weight& any, const float* x, int64_t row, int thread) noexcept {
  const MatmulMemory& memory = context.matmul;
  const bool is_bfloats = takes_bfloats(any);
  if (!is_bfloats && (is_stored(any.format()) || any.format() == WeightFormat::stored)) {
    const int64_t padded = padded_cols(any.cols());
    std::byte* at = memory.values + row * MatmulMemory::grouped_stride(padded);
    context.kernels->to_groups(x, any.cols(),
                               {at, reinterpret_cast<float*>(at + grouped_scales_at(padded)),
                                reinterpret_cast<int32_t*>(at + grouped_sums_at(padded))});
  }
  if (!is_bfloats && !is_packed(any.format())) return;
  const PackedFormat format = is_bfloats ? kPackedBf16 : packed_format(any.format());
  const PackedRow to{memory.values + row * MatmulMemory::row_bytes(padded_cols(any.cols()) / kPackedColumns, format),
                     memory.scales + row, memory.sums + row};
  if (format == kPackedBf16) context.kernels->to_bf16(x, any.cols(), to);
  else context.kernels->to_int8(x, any.cols(), memory.rotated_of(thread), to);
}

struct Rows {
  int64_t first = 0, count = 0;
};

// Sets the fields of a tile that describe its `count` outputs.
template <class Tile>
void set_results(const Context& context, int64_t count, const float* bias, float* out, int64_t out_stride, int thread,
                 Tile& tile) noexcept {
  tile.blocks = (count + kBlockChannels - 1) / kBlockChannels;
  tile.bias = bias;
  tile.out = out;
  tile.out_stride = out_stride;
  tile.n = count;
  tile.scratch = context.matmul.scratch + thread * kMatmulScratch;
}

// Computes outputs [begin, begin + count) of packed rows into `out`; begin is a multiple of 16.
inline void multiply_packed(const Context& context, const PackedWeight& weight, Rows rows, int64_t begin, int64_t count,
                            const float* bias, float* out, int64_t out_stride, int thread) noexcept {
  const PackedFormat format = weight.layout().format;
  const MatmulMemory& memory = context.matmul;
  PackedTile tile{};
  weight.place(begin / kBlockChannels, tile);
  tile.x_stride = MatmulMemory::row_bytes(tile.groups, format);
  tile.x = memory.values + rows.first * tile.x_stride;
  tile.x_scales = memory.scales + rows.first;
  tile.x_sums = memory.sums + rows.first;
  tile.m = rows.count;
  set_results(context, count, bias, out, out_stride, thread, tile);
  context.kernels->packed.matmul[format](tile);
}

// The same for a weight in the format of its file.
inline void multiply_stored(const Context& context, const StoredWeight& weight, Rows rows, int64_t begin, int64_t count,
                            const float* bias, float* out, int64_t out_stride, int thread) noexcept {
  if (is_float8(weight.format()))
    return multiply_float8(context, weight, {rows.first, rows.count, begin, count, bias, out, out_stride}, thread);
  StoredTile tile{};
  weight.place(begin / kBlockChannels, tile);
  tile.padded = padded_cols(weight.cols());
  tile.x_stride = MatmulMemory::grouped_stride(tile.padded);
  tile.x = context.matmul.values + rows.first * tile.x_stride;
  tile.m = rows.count;
  set_results(context, count, bias, out, out_stride, thread, tile);
  context.kernels->packed.stored(tile);
}

}  // namespace pagoda::device::cpu
