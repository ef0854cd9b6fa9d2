// route_experts: one token at a time. Only the selected experts need ordering, so k searches beat a sort.
#include <cmath>

#include "device/cpu/expert_kernels.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

void route_row(const float* logits, int64_t num_experts, int64_t k, bool normalise, int32_t* ids,
               float* weights) noexcept {
  for (int64_t j = 0; j < k; ++j) {
    int64_t best = -1;
    for (int64_t e = 0; e < num_experts; ++e) {
      if (best >= 0 && !(logits[e] > logits[best])) continue;
      bool is_taken = false;
      for (int64_t i = 0; i < j; ++i) is_taken = is_taken || ids[i] == e;
      if (!is_taken) best = e;
    }
    ids[j] = static_cast<int32_t>(best);
  }
  const float largest = logits[ids[0]];
  float sum = 0.0f;
  for (int64_t j = 0; j < k; ++j) sum += weights[j] = std::exp(logits[ids[j]] - largest);
  if (!normalise) {
    sum = 0.0f;
    for (int64_t e = 0; e < num_experts; ++e) sum += std::exp(logits[e] - largest);
  }
  for (int64_t j = 0; j < k; ++j) weights[j] /= sum;
}

}  // namespace

void route_experts(const Context& context, const RouteExpertsArgs& args) noexcept {
  const int64_t num_experts = args.logits.shape[1], k = args.ids.shape[1];
  context.for_each(args.ids.shape[0], num_experts * k, [&](int64_t t, int) {
    route_row(at<float>(args.logits, t), num_experts, k, args.normalise, at<int32_t>(args.ids, t),
              at<float>(args.weights, t));
  });
}

}  // namespace pagoda::device::cpu
