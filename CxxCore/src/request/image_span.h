// ImageSpan: the tokens of an image in a prompt, the keys by which the prefix caches know them, and the positions that
// rotate queries and keys (M-RoPE).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pagoda/image.h"

namespace pagoda::request {

// The tokens of an image are a grid, row by row.
struct ImageSpan {
  int32_t begin = 0;              // index of its first token
  int32_t height = 0, width = 0;  // tokens
  int32_t position = 0;           // rotary position of its first token
  const float* rows = nullptr;    // [num_tokens, row size] its embeddings, of the engine; null: not computed yet

  int32_t num_tokens() const noexcept { return height * width; }
  int32_t end() const noexcept { return begin + num_tokens(); }
  int32_t next_position() const noexcept { return position + std::max(height, width); }  // of the token after it
};

// Text has three equal coordinates.
struct RopeCoordinates {
  int32_t time = 0, height = 0, width = 0;
  bool operator==(const RopeCoordinates&) const = default;
};

// The last image that begins at or before the token `index`, or null. `images` are in order.
inline const ImageSpan* image_before(std::span<const ImageSpan> images, int32_t index) noexcept {
  const auto after =
      std::ranges::upper_bound(images, index, {}, [](const ImageSpan& image) { return image.begin; }) - images.begin();
  return after > 0 ? &images[static_cast<size_t>(after) - 1] : nullptr;
}

// An image takes as many positions as its longer side has tokens, and not one per token; KV rows and the causal order
// still count tokens.
inline RopeCoordinates rope_coordinates(std::span<const ImageSpan> images, int32_t index) noexcept {
  const ImageSpan* image = image_before(images, index);
  if (image == nullptr) return {index, index, index};
  if (index < image->end()) {
    const int32_t offset = index - image->begin;
    return {image->position, image->position + offset / image->width, image->position + offset % image->width};
  }
  const int32_t position = image->next_position() + index - image->end();
  return {position, position, position};
}

// Placeholder ids are all alike. So that a prompt with another image never finds a cached prefix, a sequence has a
// number from the image's identity in place of each of them: negative, which no id of a vocabulary is.
inline int32_t image_key(const ImageIdentity& identity, int32_t offset) noexcept {
  uint64_t mixed = (offset % 2 == 0 ? identity.high : identity.low) + 0x9e3779b97f4a7c15 * (uint64_t(offset) + 1);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return -1 - static_cast<int32_t>((mixed ^ (mixed >> 31)) & 0x7fffffff);
}
inline bool is_image_key(int32_t token) noexcept { return token < 0; }

// A key has 31 bits, so the first few could be those of another image by chance. The number of leading tokens, at most
// `count`, that can be resumed from: not between the first and the fourth token of an image.
inline int32_t sure_length(std::span<const int32_t> tokens, int32_t count) noexcept {
  constexpr int32_t kSureKeys = 4;
  if (count >= static_cast<int32_t>(tokens.size()) || count < 1 || !is_image_key(tokens[static_cast<size_t>(count)]))
    return count;
  int32_t begin = count;
  while (begin > 0 && count - begin < kSureKeys && is_image_key(tokens[static_cast<size_t>(begin) - 1])) --begin;
  return count - begin < kSureKeys ? begin : count;
}

}  // namespace pagoda::request
