// The text of matmul_f32.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_f32_source() noexcept {
  return {"matmul_f32",
R"msl(#include "matmul.h"
METAL_FUNC float lane_product(device const float* x, device const float* w, uint cols, uint lane) {
  float sum = 0.0f;
  for (uint k = lane; k < cols; k += 32) {
    sum = fma(x[k], w[k], sum);
  }
  return simd_sum(sum);
}
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_f32(device const float* x [[buffer(0)]],
                         device const float* w [[buffer(1)]],
                         device const float* bias [[buffer(2)]],
                         device float* out [[buffer(3)]],
                         constant pagoda_args::Matmul& args [[buffer(4)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  const uint n = tg.x * 4 + sg;
  if (n >= args.out_cols) {
    return;
  }
  device const float* w_row = w + ulong(n) * args.padded_cols;
  const float w_bias = args.has_bias != 0 ? bias[n] : 0.0f;
  for (uint m = tg.y * 8; m < min(args.rows, tg.y * 8 + 8); ++m) {
    device const float* x_row = x + long(m) * args.x_stride;
    float value = finish(lane_product(x_row, w_row, args.cols, lane), 1.0f, 1.0f, w_bias);
    if (args.silu_mul != 0) {
      const uint other = n + args.out_cols;
      const float product = lane_product(x_row, w + ulong(other) * args.padded_cols, args.cols, lane);
      value = silu(value) * finish(product, 1.0f, 1.0f, args.has_bias != 0 ? bias[other] : 0.0f);
    }
    if (lane == 0) {
      store_out(args, out, m, n, value);
    }
  }
}
)msl",
R"msl(#define MSL_KERNEL_matmul_f32(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const float* w, const float* bias, float* out, const pagoda_args::Matmul args) { msl_let_dependents_begin(); msl_wait_for_inputs(); matmul_f32(x, w, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_matmul_f32 MSL_KERNEL_matmul_f32((128))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
