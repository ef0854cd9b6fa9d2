// The selection bisects the logits: each step sums the weights above a threshold, without branches.
#include "sampler/listed_tokens.h"

#include <algorithm>
#include <bit>

#include "sampler/every_isa.h"

namespace pagoda::sampler {
namespace {

PAGODA_EVERY_ISA uint64_t sum_from(const float* logits, const uint64_t* weights, size_t count, float least) noexcept {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += logits[i] >= least ? weights[i] : 0;
  return sum;
}

// Integers in the order of the floats, and back.
int32_t order_of(float x) noexcept {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
float at_order(int32_t order) noexcept { return std::bit_cast<float>(order < 0 ? order ^ 0x7fffffff : order); }

}  // namespace

ListedTokens::ListedTokens(size_t vocab_size) {
  ids_.reserve(vocab_size);
  logits_.reserve(vocab_size);
  weights_.reserve(vocab_size);
}

void ListedTokens::clear() noexcept {
  ids_.clear();
  logits_.clear();
}

void ListedTokens::add(int32_t id, float logit) {
  ids_.push_back(id);
  logits_.push_back(logit);
}

uint64_t ListedTokens::weigh(const LogitBlocks& logits, float temperature) {
  weights_.resize(logits_.size());
  logits.weigh(logits_, temperature, weights_.data());
  uint64_t total = 0;
  for (const uint64_t weight : weights_) total += weight;
  return total;
}

// The highest logit such that it and those above it reach the mass.
ListedTokens::Last ListedTokens::find_last(uint64_t wanted) const noexcept {
  if (logits_.empty()) return {0, 0};
  const auto [lowest, highest] = std::ranges::minmax(logits_);
  int64_t enough = order_of(lowest), above = int64_t{order_of(highest)} + 1;
  uint64_t mass_above = 0;
  while (above - enough > 1) {
    const int64_t middle = enough + (above - enough) / 2;
    const uint64_t mass =
        sum_from(logits_.data(), weights_.data(), logits_.size(), at_order(static_cast<int32_t>(middle)));
    if (mass >= wanted) {
      enough = middle;
    } else {
      above = middle;
      mass_above = mass;
    }
  }
  return {at_order(static_cast<int32_t>(enough)), wanted - mass_above};
}

}  // namespace pagoda::sampler
