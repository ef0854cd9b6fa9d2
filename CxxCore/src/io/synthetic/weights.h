// Synthetic weights: pseudo-random bf16 numbers that are a pure function of tensor and position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pagoda::io {

// Distribution of a tensor's elements. The ranges are those of freshly initialised models, so that activations stay
// finite through any number of layers.
enum class Distribution : uint8_t {
  matrix,       // normal, std 0.02; zero-centred norms too
  norm,         // normal around 1, std 0.02
  convolution,  // normal, std 0.5
  log_decay,    // A_log: uniform, A between 1 and 16
  time_step,    // dt_bias: uniform, softplus of it between 0.001 and 0.1
};
inline constexpr size_t kNumDistributions = 5;

// A distribution is a table of equally likely bf16 values, indexed by 12 random bits: one 64-bit hash yields four
// numbers.
class SyntheticWeights {
 public:
  SyntheticWeights();

  // Bytes [begin, begin + into.size()) of tensor `tensor_index`, independent of how reads are split.
  void fill(Distribution distribution, uint64_t tensor_index, uint64_t begin, std::span<std::byte> into) const noexcept;

 private:
  static constexpr size_t kNumValues = 4096;
  using Values = std::array<uint16_t, kNumValues>;  // bf16, ascending

  std::array<Values, kNumDistributions> tables_;
};

}  // namespace pagoda::io
