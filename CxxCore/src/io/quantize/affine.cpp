// Follows MLX's order of operations on a CPU, in float32, so that words and scales are bit-identical.
#include "io/quantize/affine.h"

#include <algorithm>
#include <cmath>

namespace pagoda::io {

AffineGroup quantize_group(std::span<const float> w, int bits, uint8_t* q) noexcept {
  constexpr float kSmallestScale = 1e-7f;
  const float most = static_cast<float>((1 << bits) - 1);
  const auto [low, high] = std::minmax_element(w.begin(), w.end());
  const bool is_low_farther = std::abs(*low) > std::abs(*high);
  const float edge = is_low_farther ? *low : *high;
  AffineGroup group;
  group.scale = std::max((*high - *low) / most, kSmallestScale);
  if (!is_low_farther) group.scale = -group.scale;
  const float steps = std::rint(edge / group.scale);  // from the edge to zero
  if (steps != 0) {
    group.scale = edge / steps;
    group.bias = edge;
  }
  for (size_t i = 0; i < w.size(); ++i) {
    q[i] = static_cast<uint8_t>(std::clamp(std::rint((w[i] - group.bias) / group.scale), 0.0f, most));
  }
  return group;
}

void quantize_row(std::span<const float> w, int bits, int group_size, uint32_t* words, AffineGroup* groups) noexcept {
  const size_t per_word = 32 / static_cast<size_t>(bits);
  uint8_t q[1024];
  for (size_t begin = 0; begin < w.size(); begin += static_cast<size_t>(group_size)) {
    *groups++ = quantize_group(w.subspan(begin, static_cast<size_t>(group_size)), bits, q);
    for (size_t i = 0; i < static_cast<size_t>(group_size); i += per_word) {
      uint32_t word = 0;
      for (size_t k = 0; k < per_word; ++k) word |= static_cast<uint32_t>(q[i + k]) << (k * static_cast<size_t>(bits));
      *words++ = word;
    }
  }
}

}  // namespace pagoda::io
