// The text of matmul_wide.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_wide_source() noexcept {
  return {"matmul_wide",
R"msl(#include "wide_tile.h"
constant constexpr uint kPassTiles = 4;
constant constexpr uint kSumsRow = 20;
template <typename T, uint BITS, uint MADE>
METAL_FUNC void write_sums(constant pagoda_args::Matmul& args, threadgroup const float* sums,
                           device const float* x_scales, device const float* w_scales, device const float* bias,
                           device float* out, uint m0, uint tile, uint lane) {
  constexpr uint STEP = 32 / MADE;
  const uint r = lane % MADE;
  const uint column = tile * MADE + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);
  const uint m = m0 + lane / MADE;
  const uint end = column < args.out_cols ? args.rows : 0;
  device float* to = out + long(m) * args.out_stride + column;
  float value[MADE];
  float before[MADE];
  #pragma unroll
  for (uint i = 0; i < MADE; ++i) {
    const uint row = lane / MADE + STEP * i;
    const float x_scale = row_scale(x_scales, min(args.rows - 1, m + STEP * i), T(0.0f));
    value[i] = finish(sums[row * kSumsRow + r], x_scale, terms.scale, terms.bias);
    if (MADE == 8) {
      value[i] = silu(value[i]) * finish(sums[row * kSumsRow + 8 + r], x_scale, terms.other_scale, terms.other_bias);
    }
  }
  if (args.adds != 0) {
    #pragma unroll
    for (uint i = 0; i < MADE; ++i) {
      before[i] = m + STEP * i < end ? to[long(STEP * i) * args.out_stride] : 0.0f;
    }
    #pragma unroll
    for (uint i = 0; i < MADE; ++i) {
      value[i] = before[i] + value[i];
    }
  }
  #pragma unroll
  for (uint i = 0; i < MADE; ++i) {
    if (m + STEP * i < end) {
      to[long(STEP * i) * args.out_stride] = value[i];
    }
  }
}
template <typename T, uint BITS, uint TILES>
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_wide(device const T* x [[buffer(0)]],
                        device const float* x_scales [[buffer(1)]],
                        device const uint* w [[buffer(2)]],
                        device const ushort* w_steps [[buffer(3)]],
                        device const float* w_scales [[buffer(4)]],
                        device const float* bias [[buffer(5)]],
                        device float* out [[buffer(6)]],
                        constant pagoda_args::Matmul& args [[buffer(7)]],
                        uint2 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint shared_words[8 * kWideScratch];
  threadgroup uint* scratch = shared_words + sg * kWideScratch;
  const uint tile = tg.y * 8 + sg;
  const uint m0 = tg.x * 8 * TILES;
  const uint rows = (args.rows + 7) / 8 * 8;
  ulong w_at[2];
  Share<BITS> w_next[2];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    w_at[i] = ulong(weight_row(args, tile, 8 * i + lane / 4, 16)) * args.padded_cols + lane % 4 * 16;
    load_share(w, w_steps, args.scales, w_at[i], 0, w_next[i]);
  }
  SumTile total[2][TILES];
  multiply_wide<T, BITS, TILES>(total, (device const uint*)(x) + ulong(m0) * (kChunk / 2), w, w_steps, rows, rows - m0,
                                w_at, w_next, args, scratch, tid, lane);
  #pragma unroll
  for (uint first = 0; first < TILES; first += kPassTiles) {
    #pragma unroll
    for (uint t = 0; t < kPassTiles; ++t) {
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        simdgroup_store(total[i][first + t], (threadgroup float*)(scratch) + 8 * t * kSumsRow + 8 * i, kSumsRow,
                        ulong2(0, 0), true);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (args.silu_mul != 0) {
      write_sums<T, BITS, 8>(args, (threadgroup const float*)(scratch), x_scales, w_scales, bias, out, m0 + 8 * first,
                             tile, lane);
    } else {
      write_sums<T, BITS, 16>(args, (threadgroup const float*)(scratch), x_scales, w_scales, bias, out, m0 + 8 * first,
                              tile, lane);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}
MSL_INSTANCE(matmul_wide_f16_16, matmul_wide, half, 16, 16)
MSL_INSTANCE(matmul_wide_bf16_16, matmul_wide, bfloat, 16, 16)
MSL_INSTANCE(matmul_wide_q8_16, matmul_wide, bfloat, 8, 16)
MSL_INSTANCE(matmul_wide_q4_16, matmul_wide, bfloat, 4, 16)
MSL_INSTANCE(matmul_wide_f16_24, matmul_wide, half, 16, 24)
MSL_INSTANCE(matmul_wide_bf16_24, matmul_wide, bfloat, 16, 24)
MSL_INSTANCE(matmul_wide_q8_24, matmul_wide, bfloat, 8, 24)
MSL_INSTANCE(matmul_wide_q4_24, matmul_wide, bfloat, 4, 24)
)msl",
R"msl(#define MSL_KERNEL_matmul_wide(BOUNDS, T, BITS, TILES) MSL_GLOBAL(BOUNDS)(const T* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) { msl_let_dependents_begin(); msl_wait_for_inputs(); matmul_wide<T, BITS, TILES>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_matmul_wide_f16_16 MSL_KERNEL_matmul_wide((256), half, 16, 16)
#define MSL_ENTRY_matmul_wide_bf16_16 MSL_KERNEL_matmul_wide((256), bfloat, 16, 16)
#define MSL_ENTRY_matmul_wide_q8_16 MSL_KERNEL_matmul_wide((256), bfloat, 8, 16)
#define MSL_ENTRY_matmul_wide_q4_16 MSL_KERNEL_matmul_wide((256), bfloat, 4, 16)
#define MSL_ENTRY_matmul_wide_f16_24 MSL_KERNEL_matmul_wide((256), half, 16, 24)
#define MSL_ENTRY_matmul_wide_bf16_24 MSL_KERNEL_matmul_wide((256), bfloat, 16, 24)
#define MSL_ENTRY_matmul_wide_q8_24 MSL_KERNEL_matmul_wide((256), bfloat, 8, 24)
#define MSL_ENTRY_matmul_wide_q4_24 MSL_KERNEL_matmul_wide((256), bfloat, 4, 24)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
