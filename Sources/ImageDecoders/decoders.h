// One pair of functions per format, and the choice between them by a file's first bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "pagoda/image_decoder.h"

namespace pagoda::images {

using Bytes = std::span<const uint8_t>;

// See ImageDecoder.
ImageHeader read_header(Bytes file);
Status decode(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb);

ImageHeader read_png_header(Bytes file);
Status decode_png(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb);
ImageHeader read_jpeg_header(Bytes file);
Status decode_jpeg(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb);
ImageHeader read_webp_header(Bytes file);
Status decode_webp(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb);
ImageHeader read_apple_header(Bytes file, const char* format);
Status decode_apple(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb);

inline Status refused(std::string message) { return make_error(StatusCode::invalid_argument, std::move(message)); }

inline ImageHeader refused_header(Status status) {
  ImageHeader header;
  header.status = std::move(status);
  return header;
}

// value / 255, rounded, for values up to 255 * 255.
constexpr uint8_t divided_by_255(uint32_t value) noexcept {
  return static_cast<uint8_t>((value + 128 + ((value + 128) >> 8)) >> 8);
}

// Puts pixels of red, green, blue and alpha on white, as Qwen's own loader does (qwen_vl_utils; transformers drops
// alpha, which shows whatever colour the transparent pixels have).
void put_on_white(const uint8_t* rgba, size_t num_pixels, uint8_t* rgb) noexcept;

}  // namespace pagoda::images
