// Packs activation rows, and multiplies a range of packed rows by a range of channels.
#pragma once

#include "device/cpu/context.h"
#include "device/cpu/packed_weight.h"

namespace pagoda::device::cpu {

// Packs `x` [cols] into row `row` of the matmul memory.
inline void pack_to(const Context& context, const PackedWeight& weight, const float* x, int64_t row,
                    int thread) noexcept {
  const PackedLayout& layout = weight.layout();
  const MatmulMemory& memory = context.matmul;
  const PackedRow to{memory.values + row * MatmulMemory::row_bytes(layout.groups, layout.format), memory.scales + row,
                     memory.sums + row};
  if (layout.format == kPackedBf16) context.kernels->to_bf16(x, layout.cols, to);
  else context.kernels->to_int8(x, layout.cols, memory.rotated_of(thread), to);
}

struct Rows {
  int64_t first = 0, count = 0;
};

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
  tile.blocks = (count + kBlockChannels - 1) / kBlockChannels;
  tile.bias = bias;
  tile.out = out;
  tile.out_stride = out_stride;
  tile.n = count;
  tile.scratch = memory.scratch + thread * kPackedScratch;
  context.kernels->packed.matmul[format](tile);
}

}  // namespace pagoda::device::cpu
