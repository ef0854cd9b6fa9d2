// Lengths of repetitions by the Z algorithm over the reversed history.
#include "sampler/dry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pagoda::sampler {
namespace {

constexpr float kMaxPenalty = 1e6f;  // far above any difference of logits; the power itself may overflow

// lengths[j]: how many tokens before and at position n - 1 - j equal the last ones of the history, at most `most`.
void find_lengths(std::span<const int32_t> history, int32_t most, std::vector<int32_t>& lengths) {
  const auto n = static_cast<int32_t>(history.size());
  const auto at = [&](int32_t j) { return history[static_cast<size_t>(n - 1 - j)]; };
  lengths.assign(static_cast<size_t>(n), 0);
  int32_t left = 0, right = 0;  // the match found so far that reaches furthest is [left, right)
  for (int32_t j = 1; j < n; ++j) {
    int32_t length = j < right ? std::min(right - j, lengths[static_cast<size_t>(j - left)]) : 0;
    while (length < most && j + length < n && at(length) == at(j + length)) ++length;
    lengths[static_cast<size_t>(j)] = length;
    if (j + length > right) left = j, right = j + length;
  }
}

}  // namespace

DryScratch::DryScratch(std::shared_ptr<const std::vector<int32_t>> breakers, size_t max_tokens)
    : breaker_ids(std::move(breakers)) {
  lengths.reserve(max_tokens);
  repeats.reserve(max_tokens);
}

void apply_dry(const DryParams& params, std::span<const int32_t> history, DryScratch& scratch,
               std::span<float> logits) {
  if (params.window >= 0 && history.size() > static_cast<size_t>(params.window))
    history = history.last(static_cast<size_t>(params.window));
  int32_t most = 0;  // tokens since the last breaker
  while (static_cast<size_t>(most) < history.size() &&
         !std::ranges::binary_search(*scratch.breaker_ids, history[history.size() - 1 - static_cast<size_t>(most)]))
    ++most;
  if (most < params.allowed_length) return;
  find_lengths(history, most, scratch.lengths);
  scratch.repeats.clear();
  for (size_t j = 1; j < history.size(); ++j) {
    const int32_t length = scratch.lengths[j], next = history[history.size() - j];
    if (length >= params.allowed_length) scratch.repeats.push_back({next, length});
  }
  // The longest repetition of a token first.
  std::ranges::sort(scratch.repeats, [](const DryScratch::Repeat& a, const DryScratch::Repeat& b) {
    return a.token_id != b.token_id ? a.token_id < b.token_id : a.length > b.length;
  });
  int32_t last = -1;
  for (const DryScratch::Repeat& repeat : scratch.repeats) {
    if (repeat.token_id == last || static_cast<size_t>(repeat.token_id) >= logits.size()) continue;
    last = repeat.token_id;
    const auto power = static_cast<float>(repeat.length - params.allowed_length);
    logits[static_cast<size_t>(last)] -= std::min(params.multiplier * std::pow(params.base, power), kMaxPenalty);
  }
}

}  // namespace pagoda::sampler
