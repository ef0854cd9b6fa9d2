// route_experts: a simdgroup for each token.
#include "args/experts.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::route_experts(const RouteExpertsArgs& a) noexcept {
  if (a.is_sigmoid || a.num_groups > 1 || a.scale != 1.0f) {
    check(make_error(StatusCode::unsupported, "GPU kernels route by softmax alone, without groups and scale"));
    return;
  }
  pagoda_args::RouteExperts args{};
  args.logits_stride = a.logits.strides[0];
  args.ids_stride = a.ids.strides[0];
  args.weights_stride = a.weights.strides[0];
  args.num_experts = as_uint(a.logits.shape[1]);
  args.chosen = as_uint(a.ids.shape[1]);
  args.normalise = a.normalise;
  launch(kernels::route_experts::kernel, {{as_uint(a.ids.shape[0])}, 32}, {a.logits, a.ids, a.weights}, args);
}

}  // namespace pagoda::device::gpu
