// resample: antialiased bicubic resizing of 8-bit RGB, bit-identical with Pillow's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "image/smart_resize.h"

namespace pagoda::image {

// rgb: [from.height][from.width][3]. Columns first, then rows; the values between the passes are rounded to bytes.
std::vector<uint8_t> resample(std::span<const uint8_t> rgb, Size from, Size to);

}  // namespace pagoda::image
