// The orientation in a block of EXIF data.
#pragma once

#include <cstdint>
#include <span>

namespace pagoda::images {

// 1 to 8; 1 if the block states none or is damaged. The block may start with "Exif" and two zeros, as in JPEG files.
int32_t exif_orientation(std::span<const uint8_t> block) noexcept;

}  // namespace pagoda::images
