// expert_scalar: the product of a few rows with the weights of their expert, without matrix units; scalar.h describes
// the order. It is used only if the bits are those of expert_few.
#include "expert_rows.h"
#include "stored_scalar.h"

// As matmul_scalar, M rows of a tile at a time. Grid: [out_cols / 32, twice as many with silu_mul; max_tiles]
template <typename T, uint BITS, uint M>
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_scalar(device const float* x [[buffer(0)]],
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
  threadgroup float shared_words[kRuns * M * kStaged];  // rows of x, then the sums of all runs
  threadgroup float* staged = shared_words + sg * M * kStaged;
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  const ulong w_at =
      ulong(tile.weight_row + weight_row(args.matmul, tg.x, lane, kScalarRows)) * args.matmul.padded_cols;
  const uint begin = sg * args.matmul.run;
  const uint end = min(begin + args.matmul.run, args.matmul.padded_cols);
  // Rarely more than one round: few tokens seldom share an expert.
  for (uint first_row = 0; first_row < tile.count; first_row += M) {
    float sums[M];
    #pragma unroll
    for (uint m = 0; m < M; ++m) {
      sums[m] = 0.0f;
    }
    for (uint k0 = begin; k0 < end; k0 += kStaged) {
      Line<BITS> first;
      Line<BITS> second;
      load_line(w, w_steps, args.matmul.scales, w_at + k0, first);
      load_line(w, w_steps, args.matmul.scales, w_at + min(k0 + kChunk, end - kChunk), second);
      const uint column = staged_column(k0, end, lane);
      #pragma unroll
      for (uint m = 0; m < M; ++m) {
        const uint row = first_row + m;
        const uint slot = order[tile.first + (row < tile.count ? row : 0)];
        stage_quad<BITS>(load_quad(x + ulong(slot / args.x_share) * ulong(args.matmul.x_stride) + column),
                   staged + m * kStaged, lane);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
      threadgroup const float* columns = staged;
      const float x_sums = staged_sums<BITS, M>(Stored<(BITS > 100)>(), args.matmul.scales, columns, lane);
      multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), first, args.matmul.scales, columns, x_sums, 0, sums);
      if (k0 + kChunk < end) {
        multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), second, args.matmul.scales, columns, x_sums, 1, sums);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint m = 0; m < M; ++m) {
      shared_words[(sg * M + m) * kScalarRows + lane] = sums[m];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const uint made = args.matmul.silu_mul != 0 ? kScalarRows / 2 : kScalarRows;  // columns of out
    const uint r = tid % made;
    const uint m = tid / made;
    const uint column = tg.x * made + r;
    if (m < M && first_row + m < tile.count && column < args.matmul.out_cols) {
      float sum = 0.0f;
      float other = 0.0f;
      #pragma unroll
      for (uint run = 0; run < kRuns; ++run) {
        sum += shared_words[(run * M + m) * kScalarRows + r];
        // Only saves work: other products do not use this sum.
        if (args.matmul.silu_mul != 0) {
          other += shared_words[(run * M + m) * kScalarRows + made + r];
        }
      }
      write_expert_out(args, w_scales, out, tile.weight_row, order[tile.first + first_row + m], column, sum, other,
                       BITS < 16);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template [[host_name("expert_scalar_bf16_1")]] kernel decltype(expert_scalar<bfloat, 16, 1>) expert_scalar<bfloat, 16, 1>;
template [[host_name("expert_scalar_bf16_2")]] kernel decltype(expert_scalar<bfloat, 16, 2>) expert_scalar<bfloat, 16, 2>;
template [[host_name("expert_scalar_q8_1")]] kernel decltype(expert_scalar<bfloat, 8, 1>) expert_scalar<bfloat, 8, 1>;
template [[host_name("expert_scalar_q8_2")]] kernel decltype(expert_scalar<bfloat, 8, 2>) expert_scalar<bfloat, 8, 2>;
template [[host_name("expert_scalar_q4_1")]] kernel decltype(expert_scalar<bfloat, 4, 1>) expert_scalar<bfloat, 4, 1>;
template [[host_name("expert_scalar_q4_2")]] kernel decltype(expert_scalar<bfloat, 4, 2>) expert_scalar<bfloat, 4, 2>;
template [[host_name("expert_scalar_s4_1")]]
kernel decltype(expert_scalar<bfloat, kStored4, 1>) expert_scalar<bfloat, kStored4, 1>;
template [[host_name("expert_scalar_s4_2")]]
kernel decltype(expert_scalar<bfloat, kStored4, 2>) expert_scalar<bfloat, kStored4, 2>;
template [[host_name("expert_scalar_s8_1")]]
kernel decltype(expert_scalar<bfloat, kStored8, 1>) expert_scalar<bfloat, kStored8, 1>;
template [[host_name("expert_scalar_s8_2")]]
kernel decltype(expert_scalar<bfloat, kStored8, 2>) expert_scalar<bfloat, kStored8, 2>;
template [[host_name("expert_scalar_s8f_1")]]
kernel decltype(expert_scalar<bfloat, kFine8, 1>) expert_scalar<bfloat, kFine8, 1>;
template [[host_name("expert_scalar_s8f_2")]]
kernel decltype(expert_scalar<bfloat, kFine8, 2>) expert_scalar<bfloat, kFine8, 2>;
