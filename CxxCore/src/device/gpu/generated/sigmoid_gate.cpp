// sigmoid_gate.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/sigmoid_gate.metal"
#include "device/gpu/generated/args_rows.h"
#include "device/gpu/generated/norms.h"
# 7 "Shaders/sigmoid_gate.metal"
MSL_KERNEL void sigmoid_gate(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* gate ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::SigmoidGate& args ,
                         uint2 tg ,
                         uint tid ) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.heads * args.dim) {
    return;
  }
  const long head = i / args.dim;
  const uint d = i % args.dim;
  const float value = x[long(tg.y) * args.x_stride + head * args.x_head_stride + d];
  out[long(tg.y) * args.out_stride + head * args.out_head_stride + d] =
      gated(value, gate[long(tg.y) * args.gate_stride + head * args.gate_head_stride + d]);
}
# 1 "sigmoid_gate.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"gate", 1, BindingKind::buffer, sizeof(float), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::SigmoidGate), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; sigmoid_gate((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::SigmoidGate*)in.buffers[3], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"sigmoid_gate", "sigmoid_gate", msl_bindings_0, {}, 128, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sigmoid_gate_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
