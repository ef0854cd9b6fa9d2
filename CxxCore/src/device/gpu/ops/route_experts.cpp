// route_experts: one simdgroup per token.
#include <string>
#include "args/experts.h"

#include "base/concat.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const RouteExpertsArgs& a) noexcept {
  constexpr int64_t kMaxGroups = 32;
  if (a.num_groups > kMaxGroups) {
    check(
        make_error(StatusCode::unsupported, concat("GPU kernels have up to 32 groups of experts, not ", a.num_groups)));
    return;
  }
  pagoda_args::RouteExperts args{};
  args.logits_stride = a.logits.strides[0];
  args.ids_stride = a.ids.strides[0];
  args.weights_stride = a.weights.strides[0];
  args.num_experts = as_uint(a.logits.shape[1]);
  args.chosen = as_uint(a.ids.shape[1]);
  args.normalise = a.normalise;
  args.is_sigmoid = a.is_sigmoid;
  args.has_bias = a.bias.is_present();
  args.num_groups = as_uint(a.num_groups);
  args.groups_per_token = as_uint(a.groups_per_token);
  args.scale = a.scale;
  launch(kernels::route_experts::kernel, {{as_uint(a.ids.shape[0])}, 32},
         {a.logits, or_else(a.bias, a.logits), a.ids, a.weights}, args);
}

}  // namespace pagoda::device::gpu
