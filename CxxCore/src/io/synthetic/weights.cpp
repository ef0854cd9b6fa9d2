// Tables of equally likely values, and the hash that selects from them.
#include "io/synthetic/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/dtype.h"

namespace pagoda::io {
namespace {

constexpr uint64_t kWordBytes = 8;  // four bf16 numbers per hash
constexpr int kIndexBits = 12;

// A 64-bit bijection in which every output bit depends on every input bit (multiply and xor-shift rounds).
inline uint64_t mix(uint64_t x) noexcept {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

// The standard normal quantile of p, by bisection.
double normal_quantile(double p) {
  double low = -8, high = 8;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

SyntheticWeights::SyntheticWeights() {
  const auto set = [&](Distribution distribution, size_t i, double value) {
    tables_[static_cast<size_t>(distribution)][i] = f32_to_bf16(static_cast<float>(value));
  };
  const double min_step = std::log(std::expm1(0.001)), max_step = std::log(std::expm1(0.1));
  for (size_t i = 0; i < kNumValues; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / kNumValues, z = normal_quantile(p);
    set(Distribution::matrix, i, 0.02 * z);
    set(Distribution::norm, i, 1 + 0.02 * z);
    set(Distribution::convolution, i, 0.5 * z);
    set(Distribution::log_decay, i, p * std::log(16.0));
    set(Distribution::time_step, i, min_step + p * (max_step - min_step));
  }
}

void SyntheticWeights::fill(Distribution distribution, uint64_t tensor_index, uint64_t begin,
                            std::span<std::byte> into) const noexcept {
  const Values& values = tables_[static_cast<size_t>(distribution)];
  const uint64_t seed = mix(tensor_index + 1);
  const auto word = [&](uint64_t index) {
    const uint64_t random = mix(seed + index * 0x9e3779b97f4a7c15u);
    std::array<uint16_t, 4> numbers;
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = values[(random >> (16 * i)) & ((1u << kIndexBits) - 1)];
    return numbers;
  };
  // Partial words at both ends, and whole words between them.
  while (!into.empty()) {
    const uint64_t skipped = begin % kWordBytes;
    if (skipped == 0 && into.size() >= kWordBytes) {
      const size_t num_words = into.size() / kWordBytes;
      for (size_t i = 0; i < num_words; ++i) {
        const auto numbers = word(begin / kWordBytes + i);
        std::memcpy(into.data() + i * kWordBytes, numbers.data(), kWordBytes);
      }
      begin += num_words * kWordBytes;
      into = into.subspan(num_words * kWordBytes);
    } else {
      const auto numbers = word(begin / kWordBytes);
      const size_t count = static_cast<size_t>(std::min<uint64_t>(kWordBytes - skipped, into.size()));
      std::memcpy(into.data(), reinterpret_cast<const std::byte*>(numbers.data()) + skipped, count);
      begin += count;
      into = into.subspan(count);
    }
  }
}

}  // namespace pagoda::io
