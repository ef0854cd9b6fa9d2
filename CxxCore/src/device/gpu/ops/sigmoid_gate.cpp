// sigmoid_gate: one thread per element.
#include "args/rows.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::launch_gate(const SigmoidGateArgs& a) noexcept {
  pagoda_args::SigmoidGate args{};
  args.x_stride = a.x.strides[0];
  args.x_head_stride = a.x.strides[1];
  args.gate_stride = a.gate.strides[0];
  args.gate_head_stride = a.gate.strides[1];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.heads = as_uint(a.x.shape[1]);
  args.dim = as_uint(a.x.shape[2]);
  const uint32_t groups = as_uint(ceil_divide(a.x.shape[1] * a.x.shape[2], 128));
  launch(kernels::sigmoid_gate::kernel, {{groups, as_uint(a.x.shape[0])}}, {a.x, a.gate, a.out}, args);
}

}  // namespace pagoda::device::gpu
