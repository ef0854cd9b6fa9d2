// combine_experts: one threadgroup per token.
#include "args/experts.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const CombineExpertsArgs& a) noexcept {
  pagoda_args::CombineExperts args{};
  args.x_stride = a.x.strides[0];
  args.weights_stride = a.weights.strides[0];
  args.shared_stride = a.shared.strides[0];
  args.gate_stride = a.gate.strides[0];
  args.out_stride = a.out.strides[0];
  args.cols = as_uint(a.out.shape[1]);
  args.chosen = as_uint(a.weights.shape[1]);
  args.has_shared = !a.shared.is_present() ? 0 : a.gate.is_present() ? 1 : 2;
  // Every argument of a kernel must be bound, even if it is not read.
  const bool has_shared = args.has_shared != 0;
  const Tensor &shared = has_shared ? a.shared : a.out, &gate = a.gate.is_present() ? a.gate : a.weights;
  launch(kernels::combine_experts::kernel, {{as_uint(a.out.shape[0])}}, {a.x, a.weights, shared, gate, a.out}, args);
}

}  // namespace pagoda::device::gpu
