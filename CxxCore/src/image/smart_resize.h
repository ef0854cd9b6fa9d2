// smart_resize: the size that Qwen's image processor gives an image, so that it divides into blocks of patches.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "pagoda/image.h"

namespace pagoda::image {

struct Size {
  int32_t width = 0, height = 0;  // in pixels
};

// Fails unless the options describe patches that the core can compute, and limits that some size meets.
Status check_options(const ImageOptions& options);

// Both sides become multiples of patch_size * merge_size, with about the same aspect ratio, and about min_pixels to
// max_pixels pixels. Operations and roundings are those of transformers, so that the grids are equal.
Result<Size> smart_resize(Size size, const ImageOptions& options);

}  // namespace pagoda::image
