// Shared by expert_few and expert_many: addresses of a tile's rows, and writing the outputs.
#pragma once

#include "args/experts.h"
#include "stored.h"

// A tile of expert_tiles, with at least one row.
struct ExpertTile {
  uint weight_row;  // the expert's first row
  uint first;       // index of its first row in `order`
  uint count;
};

METAL_FUNC ExpertTile expert_tile(device const uint* tiles, uint index, uint expert_rows) {
  ExpertTile tile;
  tile.weight_row = tiles[index * 4] * expert_rows;
  tile.first = tiles[index * 4 + 1];
  tile.count = tiles[index * 4 + 2];
  return tile;
}

// Start of a lane's share of row r, one of the threadgroup's `rows` rows of weights.
METAL_FUNC ulong expert_weight_at(constant pagoda_args::ExpertProducts& args, thread const ExpertTile& tile, uint group,
                                  uint r, uint rows, uint lane) {
  return ulong(tile.weight_row + weight_row(args.matmul, group, r, rows)) * args.matmul.padded_cols + lane % 4 * 16;
}

// Start of a lane's share of row m of x. Rows past the last repeat the first; their products are unused.
template <uint BITS>
METAL_FUNC ulong expert_x_at(constant pagoda_args::ExpertProducts& args, device const uint* order,
                             thread const ExpertTile& tile, uint m, uint lane) {
  const uint slot = order[tile.first + (m < tile.count ? m : 0)];
  return ulong(slot / args.x_share) * ulong(args.matmul.x_stride) + x_column<BITS>(lane);
}

// Writes one output of row `slot` from its sum and, with silu_mul, that of its other factor.
METAL_FUNC void write_expert_out(constant pagoda_args::ExpertProducts& args, device const float* w_scales,
                                 device float* out, uint weight_row, uint slot, uint column, float sum, float other,
                                 bool is_scaled) {
  float value = finish(sum, 1.0f, is_scaled ? w_scales[weight_row + column] : 1.0f, 0.0f);
  if (args.matmul.silu_mul != 0) {
    const uint at = weight_row + args.matmul.out_cols + column;
    value = silu(value) * finish(other, 1.0f, is_scaled ? w_scales[at] : 1.0f, 0.0f);
  }
  out[long(slot) * args.matmul.out_stride + column] = value;
}
