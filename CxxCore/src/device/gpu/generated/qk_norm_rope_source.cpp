// The text of qk_norm_rope.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource qk_norm_rope_source() noexcept {
  return {"qk_norm_rope",
R"msl(#pragma METAL fp contract(off)
// qk_norm_rope: RMS norm of each head if there is a weight, then rotation of its first dims by the row's position.
#include "args/qk_norm_rope.h"
#include "rope.h"

// Grid: [heads, tokens], one simdgroup each. out may alias x: the whole head is read before it is written.
[[max_total_threads_per_threadgroup(32)]]
kernel void qk_norm_rope(device const float* x [[buffer(0)]],
                         device const float* weight [[buffer(1)]],
                         device const int* positions [[buffer(2)]],
                         device const float* inv_freq [[buffer(3)]],
                         device float* out [[buffer(4)]],
                         constant pagoda_args::QkNormRope& args [[buffer(5)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head[512];
  norm_and_rotate(x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride, weight, inv_freq, positions[tg.y],
                  args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  device float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; i < args.dim; i += 32) {
    to[i] = head[i];
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/qk_norm_rope.metal"
#include "Shaders/args/qk_norm_rope.h"
#include "Shaders/rope.h"
# 7 "Shaders/qk_norm_rope.metal"
MSL_KERNEL void qk_norm_rope(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* weight ,
                         MSL_DEVICE const int* positions ,
                         MSL_DEVICE const float* inv_freq ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::QkNormRope& args ,
                         uint2 tg ,
                         uint lane ) {
  MSL_TG_VAR(1, head, [512], float)
  norm_and_rotate(x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride, weight, inv_freq, positions[tg.y],
                  args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  MSL_DEVICE float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; i < args.dim; i += 32) {
    to[i] = head[i];
  }
}

# 1 "qk_norm_rope.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_qk_norm_rope)
extern "C" __global__ void __launch_bounds__(32) qk_norm_rope(const float* x, const float* weight, const int* positions, const float* inv_freq, float* out, const pagoda_args::QkNormRope args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  qk_norm_rope(x, weight, positions, inv_freq, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
