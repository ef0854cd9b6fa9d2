// gated_rms_norm.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/gated_rms_norm.metal"
#include "device/gpu/generated/args_gated_rms_norm.h"
#include "device/gpu/generated/norms.h"
# 7 "Shaders/gated_rms_norm.metal"
MSL_KERNEL void gated_rms_norm(MSL_DEVICE const float* x ,
                           MSL_DEVICE const float* z ,
                           MSL_DEVICE const float* weight ,
                           MSL_DEVICE float* out ,
                           MSL_CONSTANT pagoda_args::GatedRmsNorm& args ,
                           uint2 tg ,
                           uint lane ) {
  MSL_DEVICE const float* row = x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride;
  MSL_DEVICE const float* gate = z + long(tg.y) * args.z_stride + long(tg.x) * args.z_head_stride;
  MSL_DEVICE float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  const float scale = head_scale(row, args.dim, args.eps, lane);
  for (uint first = lane; MSL_LOOP(first < args.dim); first += 4 * 32) {
    float v[4];
    float w[4];
    float g[4];
    load_ahead(row, first, 32, args.dim, v);
    load_ahead(weight, first, 32, args.dim, w);
    load_ahead(gate, first, 32, args.dim, g);

    for (uint j = 0; j < 4; ++j) {
      if (first + j * 32 < args.dim) {
        to[first + j * 32] = gated_normed(v[j], scale, w[j], g[j]);
      }
    }
  }
}
# 1 "gated_rms_norm.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"z", 1, BindingKind::buffer, sizeof(float), false}, {"weight", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::GatedRmsNorm), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gated_rms_norm((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::GatedRmsNorm*)in.buffers[4], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"gated_rms_norm", "gated_rms_norm", msl_bindings_0, {}, 32, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gated_rms_norm_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
