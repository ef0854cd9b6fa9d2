// One pass over a row of logits, and queries on its blocks. Loops are branch-free over lanes, so that compilers
// vectorise them.
#include "sampler/logit_blocks.h"

#include <algorithm>
#include <bit>
#include <functional>

// Compiled once per instruction set, chosen when the program starts. Bits are the same: no set changes how a single
// operation rounds, and no two of them are fused.
#if defined(__x86_64__) && defined(__GLIBC__) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
#define PAGODA_EVERY_ISA __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PAGODA_EVERY_ISA
#endif

namespace pagoda::sampler {
namespace {

float multiply_add(float a, float b, float c) noexcept {
  const float product = a * b;
  return product + c;
}

}  // namespace

float weight_of(float x) noexcept {
  constexpr float kLowest = -87.0f, kMagic = 0x1.8p23f;  // adding kMagic rounds to an integer in the low bits
  const float bounded = x > kLowest ? x : kLowest;
  const float shifted = multiply_add(bounded, 0x1.715476p0f, kMagic), n = shifted - kMagic;
  float r = multiply_add(n, -0x1.62e4p-1f, bounded);  // ln 2 in two parts; n times the first, which is short, is exact
  r = multiply_add(n, -0x1.7f7d1cp-20f, r);
  float p = multiply_add(1.0f / 720.0f, r, 1.0f / 120.0f);
  p = multiply_add(p, r, 1.0f / 24.0f);
  p = multiply_add(p, r, 1.0f / 6.0f);
  p = multiply_add(p, r, 0.5f);
  p = multiply_add(p, r, 1.0f);
  p = multiply_add(p, r, 1.0f);
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kMagic) + 127u;
  const float power = std::bit_cast<float>(exponent << 23);
  return x > kLowest ? p * power : 0.0f;
}

namespace {

struct Survey {
  float highest;
  bool is_good;  // no logit is NaN or +infinity
};

PAGODA_EVERY_ISA Survey survey_block(const float* logits, size_t count) noexcept {
  constexpr size_t kLanes = 16;
  constexpr float kInfinity = __builtin_inff();
  float lanes[kLanes];
  uint32_t bad_lanes[kLanes] = {}, bad = 0;
  std::fill_n(lanes, kLanes, -kInfinity);
  const auto take = [&](size_t lane, float logit) {
    lanes[lane] = logit > lanes[lane] ? logit : lanes[lane];
    bad_lanes[lane] |= logit < kInfinity ? 0u : 1u;  // NaN sets the flag too
  };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) take(lane, logits[i + lane]);
  for (; i < count; ++i) take(0, logits[i]);
  for (const uint32_t lane : bad_lanes) bad |= lane;
  return {*std::max_element(lanes, lanes + kLanes), bad == 0};
}

PAGODA_EVERY_ISA uint64_t sum_block(const float* logits, size_t count, float highest, float temperature) noexcept {
  uint32_t upper = 0, lower = 0;  // sums of 256 numbers below 2^20 each
  for (size_t i = 0; i < count; ++i) {
    const float weight = weight_of((logits[i] - highest) / temperature);
    upper += upper_part(weight);
    lower += lower_part(weight);
  }
  return (uint64_t{upper} << 20) + lower;
}

}  // namespace

LogitBlocks::LogitBlocks(size_t vocab_size)
    : block_highest_((vocab_size + kBlock - 1) / kBlock), block_sums_(block_highest_.size()) {
  scratch_.reserve(block_highest_.size());
}

bool LogitBlocks::survey(std::span<const float> logits) noexcept {
  logits_ = logits;
  bool is_good = true;
  for (size_t block = 0; block < block_highest_.size(); ++block) {
    const size_t begin = block * kBlock;
    const Survey found = survey_block(logits.data() + begin, end_of(block) - begin);
    block_highest_[block] = found.highest;
    is_good &= found.is_good;
  }
  highest_ = block_highest_.empty() ? kImpossible : *std::ranges::max_element(block_highest_);
  return is_good;
}

int32_t LogitBlocks::first_highest() const noexcept {
  const size_t block = static_cast<size_t>(std::ranges::find(block_highest_, highest_) - block_highest_.begin());
  const auto begin = logits_.begin() + static_cast<std::ptrdiff_t>(block * kBlock);
  return static_cast<int32_t>(std::find(begin, logits_.end(), highest_) - logits_.begin());
}

float LogitBlocks::reached_by(size_t count) const {
  if (count == 0 || count > block_highest_.size()) return kImpossible;
  scratch_ = block_highest_;
  const auto nth = scratch_.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(scratch_.begin(), nth, scratch_.end(), std::greater<>());
  return *nth;
}

size_t LogitBlocks::weigh_block(size_t block, float temperature, float* weights) const noexcept {
  const size_t begin = block * kBlock, count = end_of(block) - begin;
  const float* logits = logits_.data() + begin;
  for (size_t i = 0; i < count; ++i) weights[i] = weight_of((logits[i] - highest_) / temperature);
  return count;
}

uint64_t LogitBlocks::sum_weights(float temperature) noexcept {
  uint64_t total = 0;
  for (size_t block = 0; block < block_sums_.size(); ++block) {
    const size_t begin = block * kBlock;
    block_sums_[block] = sum_block(logits_.data() + begin, end_of(block) - begin, highest_, temperature);
    total += block_sums_[block];
  }
  return total;
}

int32_t LogitBlocks::id_at(uint64_t target, float temperature) const noexcept {
  size_t block = 0;
  for (; block + 1 < block_sums_.size() && target >= block_sums_[block]; ++block) target -= block_sums_[block];
  float weights[kBlock];
  const size_t count = weigh_block(block, temperature, weights);
  size_t chosen = 0;
  for (; chosen + 1 < count && target >= whole_weight(weights[chosen]); ++chosen)
    target -= whole_weight(weights[chosen]);
  return static_cast<int32_t>(block * kBlock + chosen);
}

}  // namespace pagoda::sampler
