// expert_many: the product of up to 32 rows with the weights of their expert; matmul.h describes layout and order.
#include "expert_rows.h"
#include "matmul_tile.h"

constant constexpr uint kRows = 32;  // of x
constant constexpr uint kWeightRows = 128;
constant constexpr uint kShares = kWeightRows / 32;
constant constexpr uint kPass = kRows / 2;  // rows of x whose sums are written in one pass

// Uses the loop of matmul_tiles, so that a row gets the same bits as from expert_few.
// Grid: [out_cols / 128, twice as many with silu_mul; max_tiles]
template <typename T, uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void expert_many(device const T* x [[buffer(0)]],
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
  constexpr uint TERMS = BITS > 200 ? 8 : BITS > 100 ? 4 : 0;  // per row of weights
  constexpr uint STAGE = (kWeightRows + kRows) * kStagedWords + (TERMS > 0 ? kFactorWords : 0) + kWeightRows * TERMS;
  threadgroup uint shared_words[STAGE];  // also the sums
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  ulong w_at[kShares];
  Share<BITS> w_next[kShares];
  #pragma unroll
  for (uint i = 0; i < kShares; ++i) {
    w_at[i] = expert_weight_at(args, tile, tg.x, staged_row(tid, i), kWeightRows, tid);
    load_share(w, w_steps, args.matmul.scales, w_at[i], 0, w_next[i]);
  }
  ulong x_at[1];
  x_at[0] = expert_x_at<BITS>(args, order, tile, tid / 4, tid);
  SumTile total[8][2];
  multiply_tile<T, BITS, 8, 2>(total, x, w, w_steps, x_at, w_at, w_next, args.matmul.scales,
                               args.matmul.padded_cols, args.matmul.run, shared_words, tid, sg, lane);

  threadgroup float* sums = (threadgroup float*)(shared_words);  // [x][weights]
  const uint made = args.matmul.silu_mul != 0 ? kWeightRows / 2 : kWeightRows;
  #pragma unroll
  for (uint first = 0; first < kRows; first += kPass) {
    store_half<8, 2>(total, sums, first, sg);
    for (uint i = tid; i < made * kPass; i += 128) {
      const uint r = i % made;
      const uint m = first + i / made;
      const uint column = tg.x * made + r;
      if (m < tile.count && column < args.matmul.out_cols) {
        write_expert_out(args, w_scales, out, tile.weight_row, order[tile.first + m], column,
                         sums[i / made * kWeightRows + r],
                         args.matmul.silu_mul != 0 ? sums[i / made * kWeightRows + made + r] : 0.0f, BITS < 16);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template [[host_name("expert_many_bf16")]] kernel decltype(expert_many<bfloat, 16>) expert_many<bfloat, 16>;
template [[host_name("expert_many_q8")]] kernel decltype(expert_many<bfloat, 8>) expert_many<bfloat, 8>;
template [[host_name("expert_many_q4")]] kernel decltype(expert_many<bfloat, 4>) expert_many<bfloat, 4>;
template [[host_name("expert_many_s4")]]
kernel decltype(expert_many<bfloat, kStored4>) expert_many<bfloat, kStored4>;
template [[host_name("expert_many_s8")]]
kernel decltype(expert_many<bfloat, kStored8>) expert_many<bfloat, kStored8>;
template [[host_name("expert_many_s8f")]]
kernel decltype(expert_many<bfloat, kFine8>) expert_many<bfloat, kFine8>;
