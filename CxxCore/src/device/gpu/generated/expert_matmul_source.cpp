// The text of expert_matmul.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_matmul_source() noexcept {
  return {"expert_matmul",
R"msl(#include "common.h"
#include "args/experts.h"
constant constexpr uint kRows = 8;
struct F32 {};
struct F16 {};
METAL_FUNC float4 load_four(F32 format, device const uint* w, ulong at) {
  return *(device const float4*)(w + at);
}
METAL_FUNC float half_of(uint word, uint shift) { return float(as_type<half>(ushort(word >> shift & 0xffffu))); }
METAL_FUNC float4 load_four(F16 format, device const uint* w, ulong at) {
  const uint2 words = *(device const uint2*)(w + at / 2);
  return float4(half_of(words.x, 0), half_of(words.x, 16), half_of(words.y, 0), half_of(words.y, 16));
}
METAL_FUNC float x_at(device const float* row, uint k, uint cols) { return k < cols ? row[k] : 0.0f; }
METAL_FUNC float add_four(device const float* row, uint k, uint cols, float4 four, float sum) {
  sum = fma(x_at(row, k, cols), four.x, sum);
  sum = fma(x_at(row, k + 1, cols), four.y, sum);
  sum = fma(x_at(row, k + 2, cols), four.z, sum);
  return fma(x_at(row, k + 3, cols), four.w, sum);
}
template <typename FORMAT>
METAL_FUNC void multiply_rows(device const uint* w, ulong w_at, device const float* x, thread const ulong (&rows)[kRows],
                              uint count, uint cols, uint lane, thread float (&sums)[kRows]) {
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    sums[r] = 0.0f;
  }
  for (uint k = lane * 4; k < cols; k += 128) {
    const float4 four = load_four(FORMAT(), w, w_at + k);
    #pragma unroll
    for (uint r = 0; r < kRows; ++r) {
      sums[r] = r < count ? add_four(x + rows[r], k, cols, four, sums[r]) : 0.0f;
    }
  }
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    sums[r] = simd_sum(sums[r]);
  }
}
template <typename FORMAT>
[[max_total_threads_per_threadgroup(128)]]
kernel void expert_matmul(device const float* x [[buffer(0)]],
                          device const uint* w [[buffer(1)]],
                          device const uint* order [[buffer(2)]],
                          device const uint* tiles [[buffer(3)]],
                          device float* out [[buffer(4)]],
                          constant pagoda_args::ExpertMatmul& args [[buffer(5)]],
                          uint2 tg [[threadgroup_position_in_grid]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const uint count = tiles[tg.y * 4 + 2];
  const uint n = tg.x * 4 + sg;
  if (count == 0 || n >= args.out_cols) {
    return;
  }
  device const uint* slots = order + tiles[tg.y * 4 + 1];
  ulong rows[kRows];
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    rows[r] = ulong(slots[r < count ? r : 0] / args.x_share) * ulong(args.x_stride);
  }
  const uint w_row = tiles[tg.y * 4] * args.expert_rows + n;
  float sums[kRows];
  float others[kRows];
  multiply_rows<FORMAT>(w, ulong(w_row) * args.padded_cols, x, rows, count, args.cols, lane, sums);
  if (args.silu_mul != 0) {
    const ulong at = ulong(w_row + args.out_cols) * args.padded_cols;
    multiply_rows<FORMAT>(w, at, x, rows, count, args.cols, lane, others);
  }
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    if (lane == r && r < count) {
      out[long(slots[r]) * args.out_stride + n] = args.silu_mul != 0 ? silu(sums[r]) * others[r] : sums[r];
    }
  }
}
MSL_INSTANCE(expert_matmul_f32, expert_matmul, F32)
MSL_INSTANCE(expert_matmul_f16, expert_matmul, F16)
)msl",
R"msl(#define MSL_KERNEL_expert_matmul(BOUNDS, FORMAT) MSL_GLOBAL(BOUNDS)(const float* x, const uint* w, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertMatmul args) { msl_let_dependents_begin(); msl_wait_for_inputs(); expert_matmul<FORMAT>(x, w, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_expert_matmul_f32 MSL_KERNEL_expert_matmul((128), F32)
#define MSL_ENTRY_expert_matmul_f16 MSL_KERNEL_expert_matmul((128), F16)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
