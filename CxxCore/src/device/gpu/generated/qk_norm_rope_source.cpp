// The text of qk_norm_rope.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource qk_norm_rope_source() noexcept {
  return {"qk_norm_rope",
R"msl(#include "args/qk_norm_rope.h"
#include "rope.h"
[[max_total_threads_per_threadgroup(32)]]
kernel void qk_norm_rope(device const float* x [[buffer(0)]],
                         device const float* weight [[buffer(1)]],
                         device const int* positions [[buffer(2)]],
                         device const float* inv_freq [[buffer(3)]],
                         device float* out [[buffer(4)]],
                         constant pagoda_args::QkNormRope& args [[buffer(5)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED float head[512];
  norm_and_rotate(x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride, weight, inv_freq, positions[tg.y],
                  args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  device float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; i < args.dim; i += 32) {
    to[i] = head[i];
  }
}
)msl",
R"msl(#define MSL_KERNEL_qk_norm_rope(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const float* weight, const int* positions, const float* inv_freq, float* out, const pagoda_args::QkNormRope args) { msl_let_dependents_begin(); msl_wait_for_inputs(); qk_norm_rope(x, weight, positions, inv_freq, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_qk_norm_rope MSL_KERNEL_qk_norm_rope((32))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
