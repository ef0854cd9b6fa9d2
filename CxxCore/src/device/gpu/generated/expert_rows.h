// expert_rows.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/expert_rows.h"
#include "device/gpu/generated/args_experts.h"
#include "device/gpu/generated/stored.h"


struct ExpertTile {
  uint weight_row;
  uint first;
  uint count;
};

METAL_FUNC ExpertTile expert_tile(MSL_DEVICE const uint* tiles, uint index, uint expert_rows) {
  ExpertTile tile;
  tile.weight_row = tiles[index * 4] * expert_rows;
  tile.first = tiles[index * 4 + 1];
  tile.count = tiles[index * 4 + 2];
  return tile;
}


METAL_FUNC ulong expert_weight_at(MSL_CONSTANT pagoda_args::ExpertProducts& args, MSL_THREAD const ExpertTile& tile, uint group,
                                  uint r, uint rows, uint lane) {
  return ulong(tile.weight_row + weight_row(args.matmul, group, r, rows)) * args.matmul.padded_cols + lane % 4 * 16;
}


template <uint BITS>
METAL_FUNC ulong expert_x_at(MSL_CONSTANT pagoda_args::ExpertProducts& args, MSL_DEVICE const uint* order,
                             MSL_THREAD const ExpertTile& tile, uint m, uint lane) {
  const uint slot = order[tile.first + (m < tile.count ? m : 0)];
  return ulong(slot / args.x_share) * ulong(args.matmul.x_stride) + x_column<BITS>(lane);
}


METAL_FUNC void write_expert_out(MSL_CONSTANT pagoda_args::ExpertProducts& args, MSL_DEVICE const float* w_scales,
                                 MSL_DEVICE float* out, uint weight_row, uint slot, uint column, float sum, float other,
                                 bool is_scaled) {
  float value = finish(sum, 1.0f, is_scaled ? w_scales[weight_row + column] : 1.0f, 0.0f);
  if (args.matmul.silu_mul != 0) {
    const uint at = weight_row + args.matmul.out_cols + column;
    value = silu(value) * finish(other, 1.0f, is_scaled ? w_scales[at] : 1.0f, 0.0f);
  }
  out[long(slot) * args.matmul.out_stride + column] = value;
}
