// The text of gated_rms_norm.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gated_rms_norm_source() noexcept {
  return {"gated_rms_norm",
R"msl(#include "args/gated_rms_norm.h"
#include "norms.h"
[[max_total_threads_per_threadgroup(32)]]
kernel void gated_rms_norm(device const float* x [[buffer(0)]],
                           device const float* z [[buffer(1)]],
                           device const float* weight [[buffer(2)]],
                           device float* out [[buffer(3)]],
                           constant pagoda_args::GatedRmsNorm& args [[buffer(4)]],
                           uint2 tg [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  device const float* row = x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride;
  device const float* gate = z + long(tg.y) * args.z_stride + long(tg.x) * args.z_head_stride;
  device float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  const float scale = head_scale(row, args.dim, args.eps, lane);
  for (uint first = lane; first < args.dim; first += 4 * 32) {
    float v[4];
    float w[4];
    float g[4];
    load_ahead(row, first, 32, args.dim, v);
    load_ahead(weight, first, 32, args.dim, w);
    load_ahead(gate, first, 32, args.dim, g);
    #pragma unroll
    for (uint j = 0; j < 4; ++j) {
      if (first + j * 32 < args.dim) {
        to[first + j * 32] = gated_normed(v[j], scale, w[j], g[j]);
      }
    }
  }
}
)msl",
R"msl(#define MSL_KERNEL_gated_rms_norm(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const float* z, const float* weight, float* out, const pagoda_args::GatedRmsNorm args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gated_rms_norm(x, z, weight, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_gated_rms_norm MSL_KERNEL_gated_rms_norm((32))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
