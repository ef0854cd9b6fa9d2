// PixelGrid: the resized pixels of one image and the numbers that patches are computed with.
#pragma once

#include <cstdint>
#include <vector>

#include "pagoda/image.h"

namespace pagoda::image {

struct PixelGrid {
  int32_t grid_h = 0, grid_w = 0;  // in patches
  int32_t patch_size = 0, merge_size = 0, temporal_patch_size = 0;
  std::vector<uint8_t> rgb;  // [grid_h * patch_size][grid_w * patch_size][3]
  float levels[3][256];      // the normalised value of each byte, per channel
  ImageIdentity identity;

  int32_t patch_dim() const noexcept { return 3 * temporal_patch_size * patch_size * patch_size; }
};

}  // namespace pagoda::image
