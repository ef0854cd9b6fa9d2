// route_experts: scores of all experts, the best groups and the best experts by repeated search, then their weights.
#include <algorithm>
#include <vector>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

// Index of the largest value that is not taken (the first on ties), which is then marked as taken.
size_t take_best(const std::vector<double>& values, std::vector<bool>& is_taken) {
  size_t best = values.size();
  for (size_t i = 0; i < values.size(); ++i)
    if (!is_taken[i] && (best == values.size() || values[i] > values[best])) best = i;
  is_taken[best] = true;
  return best;
}

// Experts outside the best groups count as taken.
std::vector<bool> outside_groups(const RouteExpertsArgs& args, const std::vector<double>& choice) {
  const size_t num_groups = static_cast<size_t>(args.num_groups), size = choice.size() / num_groups;
  std::vector<double> groups;
  for (size_t g = 0; g < num_groups; ++g) {
    std::vector<double> own(choice.begin() + static_cast<int64_t>(g * size),
                            choice.begin() + static_cast<int64_t>((g + 1) * size));
    std::sort(own.rbegin(), own.rend());
    groups.push_back(args.is_sigmoid && num_groups > 1 ? own[0] + own[1] : own[0]);
  }
  std::vector<bool> group_taken(num_groups), is_outside(choice.size(), true);
  for (int64_t i = 0; i < args.groups_per_token; ++i) {
    const size_t g = take_best(groups, group_taken);
    for (size_t e = g * size; e < (g + 1) * size; ++e) is_outside[e] = false;
  }
  return is_outside;
}

}  // namespace

void run(const RouteExpertsArgs& args) noexcept {
  const int64_t num_experts = args.logits.shape[1], k = args.ids.shape[1];
  for (int64_t t = 0; t < args.ids.shape[0]; ++t) {
    const float* logits = at<float>(args.logits, t);
    const double largest = *std::max_element(logits, logits + num_experts);
    std::vector<double> scores, choice;
    double all = 0, chosen = 0;
    for (int64_t e = 0; e < num_experts; ++e) {
      scores.push_back(args.is_sigmoid ? sigmoid(logits[e]) : std::exp(logits[e] - largest));
      choice.push_back(args.is_sigmoid ? scores.back() + (args.bias.is_present() ? host_data<float>(args.bias)[e] : 0.0)
                                       : logits[e]);
      all += scores.back();
    }
    std::vector<bool> is_taken = outside_groups(args, choice);
    for (int64_t j = 0; j < k; ++j) {
      const size_t best = take_best(choice, is_taken);
      at<int32_t>(args.ids, t)[j] = static_cast<int32_t>(best);
      chosen += scores[best];
    }
    const double sum = args.normalise ? chosen : (args.is_sigmoid ? 1.0 : all);
    for (int64_t j = 0; j < k; ++j)
      at<float>(args.weights, t)[j] = static_cast<float>(scores[at<int32_t>(args.ids, t)[j]] / sum * args.scale);
  }
}

}  // namespace pagoda::device::reference
