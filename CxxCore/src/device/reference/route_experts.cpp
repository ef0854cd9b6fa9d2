// route_experts: softmax over all experts, then the k largest by repeated search.
#include <vector>

#include "device/reference/expert_oracles.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void route_experts(const RouteExpertsArgs& args) noexcept {
  const int64_t num_experts = args.logits.shape[1], k = args.ids.shape[1];
  for (int64_t t = 0; t < args.ids.shape[0]; ++t) {
    const float* logits = at<float>(args.logits, t);
    std::vector<bool> is_taken(static_cast<size_t>(num_experts));
    double chosen = 0, all = 0;
    for (int64_t j = 0; j < k; ++j) {
      int64_t best = -1;
      for (int64_t e = 0; e < num_experts; ++e)
        if (!is_taken[static_cast<size_t>(e)] && (best < 0 || logits[e] > logits[best])) best = e;
      is_taken[static_cast<size_t>(best)] = true;
      at<int32_t>(args.ids, t)[j] = static_cast<int32_t>(best);
    }
    const double largest = logits[at<int32_t>(args.ids, t)[0]];
    const auto weight = [&](int64_t e) { return std::exp(logits[e] - largest); };
    for (int64_t e = 0; e < num_experts; ++e) all += weight(e);
    for (int64_t j = 0; j < k; ++j) chosen += weight(at<int32_t>(args.ids, t)[j]);
    for (int64_t j = 0; j < k; ++j)
      at<float>(args.weights, t)[j] =
          static_cast<float>(weight(at<int32_t>(args.ids, t)[j]) / (args.normalise ? chosen : all));
  }
}

}  // namespace pagoda::device::reference
