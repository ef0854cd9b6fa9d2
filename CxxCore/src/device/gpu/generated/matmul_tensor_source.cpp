// The text of matmul_tensor.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_tensor_source() noexcept {
  return {"matmul_tensor",
R"msl(#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include "matmul.h"
template <typename T, uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_tensor(device const T* x [[buffer(0)]],
                          device const float* x_scales [[buffer(1)]],
                          device const uint* w [[buffer(2)]],
                          device const ushort* w_steps [[buffer(3)]],
                          device const float* w_scales [[buffer(4)]],
                          device const float* bias [[buffer(5)]],
                          device float* out [[buffer(6)]],
                          constant pagoda_args::Matmul& args [[buffer(7)]],
                          uint2 tg [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint ROWS = 64;
  constexpr uint W_ROWS = 64;
  constexpr uint LD = kChunk / 2;
  MSL_SHARED uint staged[2 * ROWS * LD];
  const uint m0 = tg.x * ROWS;
  const uint stage_row = tid / 4;
  const uint stage_column = tid % 4 * 16;
  ulong x_at[2];
  ulong w_at[2];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    x_at[i] = ulong(min(m0 + stage_row + 32 * i, args.rows - 1)) * args.padded_cols + stage_column;
    w_at[i] = ulong(weight_row(args, tg.y, stage_row + 32 * i, W_ROWS)) * args.padded_cols + stage_column;
  }
  constexpr auto descriptor =
      mpp::tensor_ops::matmul2d_descriptor(int(ROWS), int(W_ROWS), int(kChunk), false, true, false,
                                           mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
  mpp::tensor_ops::matmul2d<descriptor, execution_simdgroups<4>> multiply;
  tensor<threadgroup T, dextents<int, 2>, tensor_inline> x_tile((threadgroup T*)(staged),
                                                                dextents<int, 2>(int(kChunk), int(ROWS)));
  tensor<threadgroup T, dextents<int, 2>, tensor_inline> w_tile((threadgroup T*)(staged + ROWS * LD),
                                                                dextents<int, 2>(int(kChunk), int(W_ROWS)));
  auto total = multiply.template get_destination_cooperative_tensor<decltype(x_tile), decltype(w_tile), float>();
  for (ushort i = 0; i < total.get_capacity(); ++i) {
    total[i] = 0.0f;
  }
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
    #pragma unroll
    for (uint i = 0; i < 2; ++i) {
      Share<BITS> share;
      uint words[kChunkTiles];
      load_x<BITS>(x + x_at[i] + k0, words);
      store_words(words, staged + (stage_row + 32 * i) * LD + stage_column / 2);
      load_share(w, w_steps, args.scales, w_at[i], k0, share);
      share_words(share, args.scales, words);
      store_words(words, staged + (ROWS + stage_row + 32 * i) * LD + stage_column / 2);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply.run(x_tile, w_tile, total);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup float* sums = (threadgroup float*)(staged);
  tensor<threadgroup float, dextents<int, 2>, tensor_inline> sums_tile(sums,
                                                                       dextents<int, 2>(int(W_ROWS), int(ROWS)));
  total.store(sums_tile);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
  const uint r = tid % made;
  const uint column = tg.y * made + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);
  for (uint i = tid; i < made * ROWS; i += 128) {
    const uint m = m0 + i / made;
    if (m < args.rows && column < args.out_cols) {
      write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sums[i / made * W_ROWS + r],
                args.silu_mul != 0 ? sums[i / made * W_ROWS + made + r] : 0.0f);
    }
  }
}
MSL_INSTANCE(matmul_tensor_f16, matmul_tensor, half, 16)
MSL_INSTANCE(matmul_tensor_bf16, matmul_tensor, bfloat, 16)
MSL_INSTANCE(matmul_tensor_q8, matmul_tensor, bfloat, 8)
MSL_INSTANCE(matmul_tensor_q4, matmul_tensor, bfloat, 4)
)msl",
R"msl()msl"};
}
}  // namespace pagoda::device::gpu::generated
