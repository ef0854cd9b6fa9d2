// prepare: from decoded pixels to what a vision tower reads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "image/pixel_grid.h"
#include "image/smart_resize.h"

namespace pagoda::image {

// rgb: [size.height][size.width][3].
Result<std::shared_ptr<const PixelGrid>> prepare(std::span<const uint8_t> rgb, Size size, const ImageOptions& options);

// One patch as [channel][time][y][x]; all times are equal. `index` counts in merge-block order.
void write_patch(const PixelGrid& pixels, int32_t index, float* out) noexcept;

}  // namespace pagoda::image
