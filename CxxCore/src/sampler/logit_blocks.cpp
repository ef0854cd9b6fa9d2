// One pass over a row of logits, and queries on its blocks. Loops are branch-free over lanes, so that compilers
// vectorise them.
#include "sampler/logit_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "sampler/every_isa.h"

namespace pagoda::sampler {
namespace {

float multiply_add(float a, float b, float c) noexcept {
  const float product = a * b;
  return product + c;
}

constexpr float kLowest = -87.0f;

// e^x * 2^scale for kLowest <= x <= 0.
template <uint32_t scale>
float scaled_weight(float bounded) noexcept {
  constexpr float kMagic = 0x1.8p23f;  // adding it rounds to an integer in the low bits
  const float shifted = multiply_add(bounded, 0x1.715476p0f, kMagic), n = shifted - kMagic;
  float r = multiply_add(n, -0x1.62e4p-1f, bounded);  // ln 2 in two parts; n times the first, which is short, is exact
  r = multiply_add(n, -0x1.7f7d1cp-20f, r);
  float p = multiply_add(1.0f / 720.0f, r, 1.0f / 120.0f);
  p = multiply_add(p, r, 1.0f / 24.0f);
  p = multiply_add(p, r, 1.0f / 6.0f);
  p = multiply_add(p, r, 0.5f);
  p = multiply_add(p, r, 1.0f);
  p = multiply_add(p, r, 1.0f);
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kMagic) + 127u + scale;
  return p * std::bit_cast<float>(exponent << 23);
}

// whole_weight(weight_of(x)) in its two parts; below kLowest both are 0 without a comparison of their own.
struct Parts {
  uint32_t upper, lower;
};
Parts parts_of(float x) noexcept {
  const float scaled = scaled_weight<20>(x > kLowest ? x : kLowest);
  const int32_t upper = static_cast<int32_t>(scaled);
  return {static_cast<uint32_t>(upper),
          static_cast<uint32_t>(static_cast<int32_t>((scaled - static_cast<float>(upper)) * kHalfWeight))};
}

}  // namespace

float weight_of(float x) noexcept { return x > kLowest ? scaled_weight<0>(x) : 0.0f; }

namespace {

struct Survey {
  float highest;
  bool is_good;  // no logit is NaN or +infinity
};

// Many lanes, so that no operation waits for the one before it; the last steps halve them.
PAGODA_EVERY_ISA Survey survey_block(const float* logits, size_t count) noexcept {
  constexpr size_t kLanes = 64;
  constexpr uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  float highest[kLanes];
  uint32_t largest[kLanes] = {};  // the bits of each lane's largest magnitude: above kInfinity for NaN
  std::fill_n(highest, kLanes, -__builtin_inff());
  const auto take = [&](size_t lane, float logit) {
    highest[lane] = logit > highest[lane] ? logit : highest[lane];
    largest[lane] = std::max(largest[lane], std::bit_cast<uint32_t>(logit) & kMagnitude);
  };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) take(lane, logits[i + lane]);
  for (; i < count; ++i) take(i % kLanes, logits[i]);
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) {
      highest[lane] = highest[lane + half] > highest[lane] ? highest[lane + half] : highest[lane];
      largest[lane] = std::max(largest[lane], largest[lane + half]);
    }
  }
  return {highest[0], largest[0] <= kInfinity && highest[0] < __builtin_inff()};
}

// A division by 1 changes no bits, and takes longer than everything else here.
PAGODA_EVERY_ISA uint64_t sum_block(const float* logits, size_t count, float highest) noexcept {
  uint32_t upper = 0, lower = 0;  // sums of 256 numbers below 2^20 each
  for (size_t i = 0; i < count; ++i) {
    const Parts parts = parts_of(logits[i] - highest);
    upper += parts.upper;
    lower += parts.lower;
  }
  return (uint64_t{upper} << 20) + lower;
}

PAGODA_EVERY_ISA uint64_t sum_block(const float* logits, size_t count, float highest, float temperature) noexcept {
  uint32_t upper = 0, lower = 0;
  for (size_t i = 0; i < count; ++i) {
    const Parts parts = parts_of((logits[i] - highest) / temperature);
    upper += parts.upper;
    lower += parts.lower;
  }
  return (uint64_t{upper} << 20) + lower;
}

using Group = float __attribute__((ext_vector_type(16)));
using Bits = bool __attribute__((ext_vector_type(16)));

// Most groups of a block have none, and most others one.
PAGODA_EVERY_ISA size_t find_in_block(const float* logits, size_t count, float least, uint16_t* found) noexcept {
  constexpr size_t kGroup = 16;
  size_t num_found = 0, i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    Group group;
    std::memcpy(&group, logits + i, sizeof group);
    uint32_t any = __builtin_bit_cast(uint16_t, __builtin_convertvector(group >= least, Bits));
    for (; any != 0; any &= any - 1)
      found[num_found++] = static_cast<uint16_t>(i + static_cast<size_t>(std::countr_zero(any)));
  }
  for (; i < count; ++i)
    if (logits[i] >= least) found[num_found++] = static_cast<uint16_t>(i);
  return num_found;
}

PAGODA_EVERY_ISA void weigh_all(const float* logits, size_t count, float highest, float temperature,
                                uint64_t* weights) noexcept {
  for (size_t i = 0; i < count; ++i) {
    const Parts parts = parts_of((logits[i] - highest) / temperature);
    weights[i] = (uint64_t{parts.upper} << 20) + parts.lower;
  }
}

}  // namespace

LogitBlocks::LogitBlocks(size_t vocab_size)
    : last_size_(vocab_size == 0 ? 0 : (vocab_size - 1) % kBlock + 1),
      blocks_((vocab_size + kBlock - 1) / kBlock),
      block_highest_(blocks_.size()),
      block_sums_(blocks_.size()) {
  scratch_.reserve(blocks_.size());
}

bool LogitBlocks::survey(std::span<const float> logits) noexcept {
  bool is_good = true;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    blocks_[block] = logits.data() + block * kBlock;
    const Survey found = survey_block(blocks_[block], size_of(block));
    block_highest_[block] = found.highest;
    is_good &= found.is_good;
  }
  settle();
  return is_good;
}

void LogitBlocks::replace(size_t block, const float* logits) noexcept {
  blocks_[block] = logits;
  block_highest_[block] = survey_block(logits, size_of(block)).highest;
}

void LogitBlocks::settle() noexcept {
  highest_ = block_highest_.empty() ? kImpossible : *std::ranges::max_element(block_highest_);
}

int32_t LogitBlocks::first_highest() const noexcept {
  const size_t block = static_cast<size_t>(std::ranges::find(block_highest_, highest_) - block_highest_.begin());
  const float* begin = blocks_[block];
  return static_cast<int32_t>(block * kBlock) +
         static_cast<int32_t>(std::find(begin, begin + size_of(block), highest_) - begin);
}

size_t LogitBlocks::find_from(size_t block, float least, uint16_t* found) const noexcept {
  return find_in_block(blocks_[block], size_of(block), least, found);
}

float LogitBlocks::reached_by(size_t count) const {
  if (count == 0 || count > block_highest_.size()) return kImpossible;
  scratch_ = block_highest_;
  const auto nth = scratch_.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(scratch_.begin(), nth, scratch_.end(), std::greater<>());
  return *nth;
}

float LogitBlocks::reached_in_most_blocks() const {
  constexpr size_t kStride = 4;  // a sample of the blocks is enough
  scratch_.clear();
  for (size_t block = 0; block < block_highest_.size(); block += kStride) scratch_.push_back(block_highest_[block]);
  const auto nth = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_.size() * 5 / 8);
  std::nth_element(scratch_.begin(), nth, scratch_.end(), std::greater<>());
  return std::max(*nth, std::numeric_limits<float>::lowest());
}

void LogitBlocks::weigh(std::span<const float> logits, float temperature, uint64_t* weights) const noexcept {
  weigh_all(logits.data(), logits.size(), highest_, temperature, weights);
}

size_t LogitBlocks::weigh_block(size_t block, float temperature, float* weights) const noexcept {
  const size_t count = size_of(block);
  for (size_t i = 0; i < count; ++i) weights[i] = weight_of((blocks_[block][i] - highest_) / temperature);
  return count;
}

uint64_t LogitBlocks::sum_block_weights(size_t block, float temperature) const noexcept {
  if (!has_weight(block, temperature)) return 0;
  if (temperature == 1.0f) return sum_block(blocks_[block], size_of(block), highest_);
  return sum_block(blocks_[block], size_of(block), highest_, temperature);
}

uint64_t LogitBlocks::sum_weights(float temperature) noexcept {
  uint64_t total = 0;
  for (size_t block = 0; block < blocks_.size(); ++block)
    total += block_sums_[block] = sum_block_weights(block, temperature);
  return total;
}

uint64_t LogitBlocks::sum_of_blocks_from(float least) const noexcept {
  uint64_t sum = 0;
  for (size_t block = 0; block < blocks_.size(); ++block)
    sum += block_highest_[block] >= least ? block_sums_[block] : 0;
  return sum;
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
