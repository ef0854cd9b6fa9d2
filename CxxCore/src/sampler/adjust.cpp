// Sampler: changes of logits before a token is picked: masks, biases, penalties and bans. Only blocks in which a logit
// changes are copied: of a vocabulary of 248,000, an answer has used few.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "sampler/every_isa.h"
#include "sampler/sampler.h"

namespace pagoda::sampler {
namespace {

constexpr size_t kBlock = LogitBlocks::kBlock;
constexpr float kImpossible = -std::numeric_limits<float>::infinity();
constexpr float kHighest =
    std::numeric_limits<float>::max();  // adjusted logits stay below +infinity, so their differences are finite

// Whether any of `count` values is not zero.
PAGODA_EVERY_ISA bool has_any(const uint32_t* values, size_t count) noexcept {
  uint32_t any = 0;
  for (size_t i = 0; i < count; ++i) any |= values[i];
  return any != 0;
}

PAGODA_EVERY_ISA bool has_any(const uint8_t* values, size_t count) noexcept {
  uint8_t any = 0;
  for (size_t i = 0; i < count; ++i) any |= values[i];
  return any != 0;
}

// 32 logits; those without a bit become -infinity.
PAGODA_EVERY_ISA void select_allowed(uint32_t bits, const float* from, float* to) noexcept {
  for (uint32_t i = 0; i < 32; ++i) to[i] = (bits >> i & 1) != 0 ? from[i] : kImpossible;
}

// At most 64 logits.
void copy_allowed(uint64_t word, const float* from, float* to, size_t count) noexcept {
  if (word != 0 && count == 64) {
    select_allowed(static_cast<uint32_t>(word), from, to);
    select_allowed(static_cast<uint32_t>(word >> 32), from + 32, to + 32);
    return;
  }
  std::fill_n(to, count, kImpossible);
  for (uint64_t rest = word; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(rest));
    if (i < count) to[i] = from[i];
  }
}

uint64_t word_at(std::span<const uint64_t> allowed, size_t id) noexcept {
  return id / 64 < allowed.size() ? allowed[id / 64] : 0;
}

}  // namespace

void copy_admissible(const SampleInput& input, std::span<float> to) noexcept {
  for (size_t id = 0; id < to.size(); id += 64) {
    const size_t count = std::min<size_t>(64, to.size() - id);
    if (input.allowed.empty()) std::memcpy(&to[id], &input.logits[id], count * sizeof(float));
    else copy_allowed(word_at(input.allowed, id), &input.logits[id], &to[id], count);
  }
  for (const int32_t id : input.banned)
    if (id >= 0 && static_cast<size_t>(id) < to.size()) to[id] = kImpossible;
}

float& Sampler::changed(size_t id) {
  const size_t block = id / kBlock;
  if (is_changed_[block] == 0) {
    is_changed_[block] = 1;
    std::memcpy(&changed_[block * kBlock], raw_.block(block), raw_.size_of(block) * sizeof(float));
  }
  return changed_[id];
}

void Sampler::change_all() {
  for (size_t block = 0; block < is_changed_.size(); ++block) changed(block * kBlock);
}

void Sampler::apply_mask(std::span<const uint64_t> allowed) {
  for (size_t block = 0; block < is_changed_.size(); ++block) {
    const size_t begin = block * kBlock, size = raw_.size_of(block);
    uint64_t all = ~uint64_t{0};
    for (size_t i = 0; i < size; i += 64) all &= word_at(allowed, begin + i);
    if (all == ~uint64_t{0}) continue;
    is_changed_[block] = 1;
    for (size_t i = 0; i < size; i += 64)
      copy_allowed(word_at(allowed, begin + i), raw_.block(block) + i, &changed_[begin + i],
                   std::min<size_t>(64, size - i));
  }
}

// Without a list, most tokens of a vocabulary occur neither in the prompt nor in the answer: groups without any are
// skipped.
void Sampler::apply_penalties(const SamplingParams& params, const TokenCounts& counts) {
  constexpr size_t kGroup = 32;
  const size_t vocab = changed_.size();
  const bool repetition = params.repetition_penalty != 1.0f;
  const bool has_prompt = repetition && counts.in_prompt.size() >= vocab;
  const bool has_output = counts.output.size() >= vocab;
  const auto has_tokens = [&](size_t begin, size_t count) {
    return (has_output && has_any(&counts.output[begin], count)) ||
           (has_prompt && has_any(&counts.in_prompt[begin], count));
  };
  const auto change = [&](size_t id) {
    const uint32_t count = has_output ? counts.output[id] : 0;
    const bool is_repeated = repetition && (count > 0 || (has_prompt && counts.in_prompt[id] != 0));
    if (count == 0 && !is_repeated) return;
    float& logit = changed(id);
    if (is_repeated) logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    if (count > 0) logit -= penalty_of(params, count);
    logit = std::min(logit, kHighest);
  };
  if (counts.is_listed) {
    for (const int32_t id : counts.ids)
      if (static_cast<size_t>(id) < vocab) change(static_cast<size_t>(id));
    return;
  }
  for (size_t begin = 0; begin < vocab; begin += kGroup) {
    const size_t count = std::min(kGroup, vocab - begin);
    if (!has_tokens(begin, count)) continue;
    for (size_t id = begin; id < begin + count; ++id) change(id);
  }
}

void Sampler::change(const SampleInput& input) {
  adjusted_ = raw_;
  std::ranges::fill(is_changed_, uint8_t{0});
  if (!input.allowed.empty()) apply_mask(input.allowed);
  const auto is_in_range = [this](int32_t id) { return id >= 0 && static_cast<size_t>(id) < changed_.size(); };
  for (const LogitBias& entry : input.params->logit_bias) {
    if (!is_in_range(entry.token_id)) continue;
    float& logit = changed(static_cast<size_t>(entry.token_id));
    logit = entry.bias <= kRemovingBias ? kImpossible : std::min(logit + entry.bias, kHighest);
  }
  if (input.counts != nullptr) apply_penalties(*input.params, *input.counts);
  if (input.dry_scratch != nullptr) {
    change_all();
    apply_dry(input.params->dry, input.history, *input.dry_scratch, changed_);
  }
  for (const int32_t id : input.banned)
    if (is_in_range(id)) changed(static_cast<size_t>(id)) = kImpossible;
  for (size_t block = 0; block < is_changed_.size(); ++block)
    if (is_changed_[block] != 0) adjusted_.replace(block, &changed_[block * kBlock]);
  adjusted_.settle();
}

}  // namespace pagoda::sampler
