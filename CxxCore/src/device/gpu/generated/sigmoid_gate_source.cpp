// The text of sigmoid_gate.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource sigmoid_gate_source() noexcept {
  return {"sigmoid_gate",
R"msl(#include "args/rows.h"
#include "norms.h"
[[max_total_threads_per_threadgroup(128)]]
kernel void sigmoid_gate(device const float* x [[buffer(0)]],
                         device const float* gate [[buffer(1)]],
                         device float* out [[buffer(2)]],
                         constant pagoda_args::SigmoidGate& args [[buffer(3)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]]) {
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
)msl",
R"msl(#define MSL_KERNEL_sigmoid_gate(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const float* gate, float* out, const pagoda_args::SigmoidGate args) { msl_let_dependents_begin(); msl_wait_for_inputs(); sigmoid_gate(x, gate, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_sigmoid_gate MSL_KERNEL_sigmoid_gate((128))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
