// Image files: checks before decoding, and the rotation that EXIF asks for.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "pagoda/image_decoder.h"

namespace pagoda::image {

void set_decoder(const ImageDecoder& decoder) noexcept;
bool has_decoder() noexcept;

// The stored size, not rotated; refuses what exceeds the limits.
Result<ImageHeader> read_header(std::span<const uint8_t> file, const ImageLimits& limits);

Result<ImagePixels> decode(std::span<const uint8_t> file, const ImageLimits& limits);

// Whether width and height change places.
constexpr bool is_turned(int32_t orientation) noexcept { return orientation >= 5 && orientation <= 8; }

// `pixels` as a viewer shows them; orientation: 1 to 8 as in EXIF, others change nothing.
ImagePixels oriented(ImagePixels pixels, int32_t orientation);

}  // namespace pagoda::image
