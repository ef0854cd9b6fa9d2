// expert_few: the product of up to eight rows with the weights of their expert; matmul.h describes layout and order.
#include "expert_rows.h"

constant constexpr uint kTiles = 2;  // of 8 rows of weights, per threadgroup
constant constexpr uint kRows = 8 * kTiles;
constant constexpr uint kWidth = 8;  // rows of x
constant constexpr uint kAhead = 2;  // chunks with loads in flight: as many as fit in registers

// As matmul_few: each simdgroup has one run of columns. X: T, or float if activations need no preparation.
// Grid: [out_cols / 16, twice as many with silu_mul; max_tiles]
template <typename T, typename X, uint BITS>
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_few(device const X* x [[buffer(0)]],
                       device const uint* w [[buffer(1)]],
                       device const ushort* w_steps [[buffer(2)]],
                       device const float* w_scales [[buffer(3)]],
                       device const uint* order [[buffer(4)]],
                       device const uint* tiles [[buffer(5)]],
                       device float* out [[buffer(6)]],
                       constant pagoda_args::ExpertProducts& args [[buffer(7)]],
                       uint2 tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float shared_words[kRuns * kTileScratch];  // first tile scratch, then the sums of all runs
  threadgroup uint* scratch = (threadgroup uint*)(shared_words) + sg * kTileScratch;
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  ulong w_at[kTiles];
  SumTile acc[kTiles][1];
  #pragma unroll
  for (uint i = 0; i < kTiles; ++i) {
    w_at[i] = expert_weight_at(args, tile, tg.x, 8 * i + lane / 4, kRows, lane);
    acc[i][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  const ulong x_at = expert_x_at<BITS>(args, order, tile, lane / 4, lane);
  const uint begin = sg * args.matmul.run;
  const uint end = min(begin + args.matmul.run, args.matmul.padded_cols);
  for (uint k0 = begin; k0 < end; k0 += kAhead * kChunk) {
    Share<BITS> share[kAhead][kTiles];
    uint x_words[kAhead][1][kChunkTiles];
    load_shares<BITS, kAhead, kTiles>(w, w_steps, args.matmul.scales, w_at, k0, end, share);
    #pragma unroll
    for (uint u = 0; u < kAhead; ++u) {
      const uint k = k0 + u * kChunk;
      load_x<BITS>(x + x_at + (k < end ? k : k0), x_words[u][0]);
    }
    #pragma unroll
    for (uint u = 0; u < kAhead; ++u) {
      if (k0 + u * kChunk < end) {
        multiply_shares<T, BITS, kTiles, 1>(Stored<(BITS > 100)>(), acc, share[u], x_words[u], args.matmul.scales,
                                            scratch, lane);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  #pragma unroll
  for (uint i = 0; i < kTiles; ++i) {
    simdgroup_store(acc[i][0], shared_words + (sg * kRows + 8 * i) * kWidth, kWidth);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint made = args.matmul.silu_mul != 0 ? kRows / 2 : kRows;  // columns of out
  const uint r = tid % made;
  const uint m = tid / made;
  const uint column = tg.x * made + r;
  if (m < tile.count && column < args.matmul.out_cols) {
    float sum = 0.0f;
    float other = 0.0f;
    #pragma unroll
    for (uint run = 0; run < kRuns; ++run) {
      sum += shared_words[(run * kRows + r) * kWidth + m];
      if (args.matmul.silu_mul != 0) {
        other += shared_words[(run * kRows + made + r) * kWidth + m];
      }
    }
    write_expert_out(args, w_scales, out, tile.weight_row, order[tile.first + m], column, sum, other,
                     BITS < 16);
  }
}

template [[host_name("expert_few_direct_bf16")]]
kernel decltype(expert_few<bfloat, float, 16>) expert_few<bfloat, float, 16>;
template [[host_name("expert_few_direct_q8")]]
kernel decltype(expert_few<bfloat, float, 8>) expert_few<bfloat, float, 8>;
template [[host_name("expert_few_direct_q4")]]
kernel decltype(expert_few<bfloat, float, 4>) expert_few<bfloat, float, 4>;
template [[host_name("expert_few_bf16")]]
kernel decltype(expert_few<bfloat, bfloat, 16>) expert_few<bfloat, bfloat, 16>;
template [[host_name("expert_few_q8")]] kernel decltype(expert_few<bfloat, bfloat, 8>) expert_few<bfloat, bfloat, 8>;
template [[host_name("expert_few_q4")]] kernel decltype(expert_few<bfloat, bfloat, 4>) expert_few<bfloat, bfloat, 4>;
template [[host_name("expert_few_direct_s4")]]
kernel decltype(expert_few<bfloat, float, kStored4>) expert_few<bfloat, float, kStored4>;
template [[host_name("expert_few_s4")]]
kernel decltype(expert_few<bfloat, bfloat, kStored4>) expert_few<bfloat, bfloat, kStored4>;
template [[host_name("expert_few_direct_s8")]]
kernel decltype(expert_few<bfloat, float, kStored8>) expert_few<bfloat, float, kStored8>;
template [[host_name("expert_few_s8")]]
kernel decltype(expert_few<bfloat, bfloat, kStored8>) expert_few<bfloat, bfloat, kStored8>;
template [[host_name("expert_few_direct_s8f")]]
kernel decltype(expert_few<bfloat, float, kFine8>) expert_few<bfloat, float, kFine8>;
template [[host_name("expert_few_s8f")]]
kernel decltype(expert_few<bfloat, bfloat, kFine8>) expert_few<bfloat, bfloat, kFine8>;
