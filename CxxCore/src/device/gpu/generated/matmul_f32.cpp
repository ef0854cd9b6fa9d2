// matmul_f32.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/matmul_f32.metal"
#include "device/gpu/generated/matmul.h"


METAL_FUNC float lane_product(MSL_DEVICE const float* x, MSL_DEVICE const float* w, uint cols, uint lane) {
  float sum = 0.0f;
  for (uint k = lane; MSL_LOOP(k < cols); k += 32) {
    sum = fma(x[k], w[k], sum);
  }
  return simd_sum(sum);
}
# 15 "Shaders/matmul_f32.metal"
MSL_KERNEL void matmul_f32(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* w ,
                         MSL_DEVICE const float* bias ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::Matmul& args ,
                         uint2 tg ,
                         uint sg ,
                         uint lane ) {
  const uint n = tg.x * 4 + sg;
  if (n >= args.out_cols) {
    return;
  }
  MSL_DEVICE const float* w_row = w + ulong(n) * args.padded_cols;
  const float w_bias = args.has_bias != 0 ? bias[n] : 0.0f;
  for (uint m = tg.y * 8; MSL_LOOP(m < min(args.rows, tg.y * 8 + 8)); ++m) {
    MSL_DEVICE const float* x_row = x + long(m) * args.x_stride;
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
# 1 "matmul_f32.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"w", 1, BindingKind::buffer, sizeof(float), false}, {"bias", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_f32((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::Matmul*)in.buffers[4], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_f32", "matmul_f32", msl_bindings_0, {}, 128, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_f32_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
