// Chooses a decoder by a file's first bytes; on Apple's systems ImageIO is the decoder of all formats.
#include "decoders.h"

#include <cstring>
#include <string_view>

namespace pagoda::images {
namespace {

enum class Format { png, jpeg, webp, other };

bool has_at(Bytes file, size_t offset, std::string_view mark) noexcept {
  return file.size() >= offset + mark.size() && std::memcmp(file.data() + offset, mark.data(), mark.size()) == 0;
}

Format format_of(Bytes file) noexcept {
  using namespace std::string_view_literals;
  if (has_at(file, 0, "\x89PNG\r\n\x1a\n"sv)) return Format::png;
  if (has_at(file, 0, "\xff\xd8\xff"sv)) return Format::jpeg;
  if (has_at(file, 0, "RIFF"sv) && has_at(file, 8, "WEBP"sv)) return Format::webp;
  return Format::other;
}

Status refusal_of_others(Bytes file) {
  const char* name = has_at(file, 0, "GIF8")                               ? "a GIF file"
                     : has_at(file, 4, "ftyp")                             ? "a HEIC, AVIF or video file"
                     : has_at(file, 0, "BM")                               ? "a BMP file"
                     : has_at(file, 0, "II*") || has_at(file, 0, "MM")     ? "a TIFF file"
                     : has_at(file, 0, "<svg") || has_at(file, 0, "<?xml") ? "an SVG file"
                     : has_at(file, 0, "%PDF")                             ? "a PDF file"
                                                                           : nullptr;
  const std::string what = name != nullptr ? std::string("it is ") + name : "its first bytes are of no known format";
  return make_error(StatusCode::invalid_argument, "the image is not a PNG, JPEG or WebP file: " + what);
}

}  // namespace

#if defined(__APPLE__)

ImageHeader read_header(Bytes file) {
  switch (format_of(file)) {
    case Format::png: return read_apple_header(file, "PNG");
    case Format::jpeg: return read_apple_header(file, "JPEG");
    case Format::webp: return read_apple_header(file, "WebP");
    case Format::other: break;
  }
  return refused_header(refusal_of_others(file));
}

Status decode(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb) { return decode_apple(file, header, rgb); }

#else

ImageHeader read_header(Bytes file) {
  switch (format_of(file)) {
    case Format::png: return read_png_header(file);
    case Format::jpeg: return read_jpeg_header(file);
    case Format::webp: return read_webp_header(file);
    case Format::other: break;
  }
  return refused_header(refusal_of_others(file));
}

Status decode(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb) {
  switch (format_of(file)) {
    case Format::png: return decode_png(file, header, rgb);
    case Format::jpeg: return decode_jpeg(file, header, rgb);
    case Format::webp: return decode_webp(file, header, rgb);
    case Format::other: break;
  }
  return refusal_of_others(file);
}

#endif

void put_on_white(const uint8_t* rgba, size_t num_pixels, uint8_t* rgb) noexcept {
  for (size_t i = 0; i < num_pixels; ++i, rgba += 4, rgb += 3) {
    const uint32_t alpha = rgba[3], white = 255 * (255 - alpha);
    for (int channel = 0; channel < 3; ++channel) rgb[channel] = divided_by_255(rgba[channel] * alpha + white);
  }
}

}  // namespace pagoda::images
