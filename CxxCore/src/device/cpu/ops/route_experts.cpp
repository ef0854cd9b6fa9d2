// route_experts: one token at a time. Only the selected experts need ordering, so k searches beat a sort.
#include <bitset>
#include <cmath>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

using Experts = std::bitset<kMaxExperts>;

float sigmoid(float x) noexcept { return 1.0f / (1.0f + std::exp(-x)); }

class Row {
 public:
  Row(const RouteExpertsArgs& args, int64_t t) noexcept
      : args_(args),
        logits_(at<float>(args.logits, t)),
        ids_(at<int32_t>(args.ids, t)),
        weights_(at<float>(args.weights, t)),
        num_experts_(args.logits.shape[1]),
        k_(args.ids.shape[1]) {}

  void route() noexcept {
    if (args_.num_groups > 1) leave_groups();
    for (int64_t j = 0; j < k_; ++j) {
      const int64_t best = best_of(0, num_experts_, [&](int64_t e) { return choice(e); }, is_taken_);
      is_taken_.set(static_cast<size_t>(best));
      ids_[j] = static_cast<int32_t>(best);
    }
    args_.is_sigmoid ? weigh_sigmoids() : weigh_softmax();
  }

 private:
  // The score by which experts are chosen. Softmax keeps the order of logits.
  float choice(int64_t e) const noexcept {
    if (!args_.is_sigmoid) return logits_[e];
    return sigmoid(logits_[e]) + (args_.bias.is_present() ? host_data<float>(args_.bias)[e] : 0.0f);
  }

  // The highest in [begin, end) that is not taken yet; the first on ties.
  template <class Value>
  static int64_t best_of(int64_t begin, int64_t end, const Value& value, const Experts& is_taken) noexcept {
    int64_t best = -1;
    float highest = 0;
    for (int64_t i = begin; i < end; ++i) {
      if (is_taken[i]) continue;
      const float found = value(i);
      if (best < 0 || found > highest) best = i, highest = found;
    }
    return best;
  }

  float group_score(int64_t group) const noexcept {
    const int64_t size = num_experts_ / args_.num_groups, begin = group * size;
    const auto value = [&](int64_t e) { return choice(e); };
    Experts taken;
    const int64_t first = best_of(begin, begin + size, value, taken);
    if (!args_.is_sigmoid) return choice(first);
    taken.set(static_cast<size_t>(first));
    return choice(first) + choice(best_of(begin, begin + size, value, taken));
  }

  // Marks all experts outside the best groups as taken.
  void leave_groups() noexcept {
    const int64_t size = num_experts_ / args_.num_groups;
    Experts is_kept;  // by group
    for (int64_t i = 0; i < args_.groups_per_token; ++i)
      is_kept.set(static_cast<size_t>(
          best_of(0, args_.num_groups, [&](int64_t group) { return group_score(group); }, is_kept)));
    for (int64_t e = 0; e < num_experts_; ++e) is_taken_.set(static_cast<size_t>(e), !is_kept[e / size]);
  }

  void weigh_softmax() noexcept {
    const float largest = logits_[ids_[0]];  // of all experts: the best one's group is always kept
    float sum = 0.0f;
    for (int64_t j = 0; j < k_; ++j) sum += weights_[j] = std::exp(logits_[ids_[j]] - largest);
    if (!args_.normalise) {
      sum = 0.0f;
      for (int64_t e = 0; e < num_experts_; ++e) sum += std::exp(logits_[e] - largest);
    }
    for (int64_t j = 0; j < k_; ++j) weights_[j] = weights_[j] / sum * args_.scale;
  }

  void weigh_sigmoids() noexcept {
    float sum = 0.0f;
    for (int64_t j = 0; j < k_; ++j) sum += weights_[j] = sigmoid(logits_[ids_[j]]);
    for (int64_t j = 0; j < k_; ++j) weights_[j] = (args_.normalise ? weights_[j] / sum : weights_[j]) * args_.scale;
  }

  const RouteExpertsArgs& args_;
  const float* logits_;
  int32_t* ids_;
  float* weights_;
  int64_t num_experts_, k_;
  Experts is_taken_;
};

}  // namespace

void run(const Context& context, const RouteExpertsArgs& args) noexcept {
  const int64_t num_experts = args.logits.shape[1], k = args.ids.shape[1];
  context.for_each(args.ids.shape[0], num_experts * k, [&](int64_t t, int) { Row(args, t).route(); });
}

}  // namespace pagoda::device::cpu
