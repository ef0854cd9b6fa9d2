// Bounds of a sum of weights, by a polynomial of degree 4 instead of 6 and without the conversions to integers.
#include <cmath>
#include <cstring>

#include "sampler/every_isa.h"
#include "sampler/logit_blocks.h"

namespace pagoda::sampler {
namespace {

constexpr size_t kLanes = 16;
using Group = float __attribute__((ext_vector_type(kLanes)));
using Ints = int32_t __attribute__((ext_vector_type(kLanes)));

constexpr float kLog2E = 0x1.715476p0f;
// Of the sum: 3e-6 for the polynomial, 5e-6 for the rounding of its argument, down to weights that are rounded to 0,
// and 1e-6 for that of the additions.
constexpr double kError = 1.2e-5;

// The sum of e^((x - highest) * scale / log2(e)) of the logits x below `least`. Compilers may fuse products and sums
// here: the result only has to be within kError.
PAGODA_EVERY_ISA float sum_below(const float* logits, size_t count, float least, float highest, float scale) noexcept {
  constexpr float kMagic = 0x1.8p23f;  // adding it rounds to an integer in the low bits
  Group sum = 0.0f;
  const auto add = [&](const Group& x) {
    const Group y = __builtin_elementwise_max((x - highest) * scale, Group(-120.0f));
    const Group shifted = y + kMagic, f = y - (shifted - kMagic);
    const Group power = (((0.009570086f * f + 0.05591785f) * f + 0.24024744f) * f + 0.6931218f) * f + 0.9999993f;
    const Ints bits = __builtin_bit_cast(Ints, power) + (__builtin_bit_cast(Ints, shifted) << 23);
    sum += x < least ? __builtin_bit_cast(Group, bits) : Group(0.0f);
  };
  Group x;
  for (; count >= kLanes; count -= kLanes, logits += kLanes) {
    std::memcpy(&x, logits, sizeof x);
    add(x);
  }
  x = -__builtin_inff();
  std::memcpy(&x, logits, count * sizeof(float));
  if (count > 0) add(x);
  float total = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) total += sum[lane];
  return total;
}

}  // namespace

double LogitBlocks::sum_block_below(size_t block, float least, float temperature) const noexcept {
  if (!has_weight(block, temperature)) return 0;
  return static_cast<double>(sum_below(blocks_[block], size_of(block), least, highest_, kLog2E / temperature));
}

LogitBlocks::Bounds LogitBlocks::bounds_of(double sum) const noexcept {
  sum *= static_cast<double>(kWeightOne);
  const double lost = static_cast<double>(blocks_.size() * kBlock);  // each weight is rounded down
  return {static_cast<uint64_t>(std::fmax(sum * (1 - kError) - lost, 0.0)),
          static_cast<uint64_t>(sum * (1 + kError)) + 1};
}

}  // namespace pagoda::sampler
