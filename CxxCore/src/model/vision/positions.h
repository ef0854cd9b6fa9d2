// The patches of an image in the order of a vision tower, and its learned positions resampled to their grid.
#pragma once

#include <cstdint>
#include <span>

#include "io/config/vision.h"

namespace pagoda::model {

struct PatchPlace {
  int32_t row = 0, column = 0;
};

// The place of patch `index` in a grid of `grid_w` patches per row. Patches that become one token are adjacent.
inline PatchPlace patch_place(int32_t index, int32_t grid_w, int32_t merge_size) noexcept {
  const int32_t block = index / (merge_size * merge_size), inside = index % (merge_size * merge_size);
  const int32_t blocks_w = grid_w / merge_size;
  return {block / blocks_w * merge_size + inside / merge_size, block % blocks_w * merge_size + inside % merge_size};
}

// The learned position of a patch, [hidden_size]: bilinear between the four nearest of the square grid `table`
// ([side^2, hidden_size]), of which the corners coincide with those of the image.
void resample_position(const io::VisionConfig& config, std::span<const float> table, int32_t grid_h, int32_t grid_w,
                       PatchPlace place, std::span<float> out) noexcept;

}  // namespace pagoda::model
