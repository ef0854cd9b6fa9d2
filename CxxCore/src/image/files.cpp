// Checks files before decoding them, and rotates pixels.
#include "image/files.h"

#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"

namespace pagoda::image {
namespace {

ImageDecoder the_decoder;  // constant-initialised: set before main() by another file's initialiser

Status refused(std::string message) { return make_error(StatusCode::invalid_argument, std::move(message)); }

// The stored pixel that is displayed at (x, y), as its index; w and h are the stored size.
int64_t source_index(int32_t orientation, int64_t x, int64_t y, int64_t w, int64_t h) noexcept {
  switch (orientation) {
    case 2: return y * w + (w - 1 - x);
    case 3: return (h - 1 - y) * w + (w - 1 - x);
    case 4: return (h - 1 - y) * w + x;
    case 5: return x * w + y;
    case 6: return (h - 1 - x) * w + y;
    case 7: return (h - 1 - x) * w + (w - 1 - y);
    case 8: return x * w + (w - 1 - y);
    default: return y * w + x;
  }
}

}  // namespace

void set_decoder(const ImageDecoder& decoder) noexcept { the_decoder = decoder; }

bool has_decoder() noexcept { return the_decoder.read_header != nullptr && the_decoder.decode != nullptr; }

Result<ImageHeader> read_header(std::span<const uint8_t> file, const ImageLimits& limits) {
  if (!has_decoder())
    return make_error(StatusCode::unsupported, "this program has no image decoders (the library PagodaImages)");
  if (file.empty()) return refused("the image file is empty");
  if (static_cast<int64_t>(file.size()) > limits.max_bytes)
    return refused(concat("the image file has ", file.size(), " bytes; the limit is ", limits.max_bytes));
  ImageHeader header = the_decoder.read_header(file);
  if (!header.status.is_ok()) return header.status;
  if (header.width < 1 || header.height < 1) return refused(concat("the ", header.format, " file has no pixels"));
  if (int64_t{header.width} * header.height > limits.max_pixels)
    return refused(concat("the image has ", header.width, " x ", header.height, " pixels; the limit is ",
                          limits.max_pixels, " pixels"));
  return header;
}

Result<ImagePixels> decode(std::span<const uint8_t> file, const ImageLimits& limits) {
  PAGODA_ASSIGN_OR_RETURN(const ImageHeader header, read_header(file, limits));
  ImagePixels pixels;
  pixels.width = header.width;
  pixels.height = header.height;
  pixels.rgb.resize(static_cast<size_t>(header.width) * static_cast<size_t>(header.height) * 3);
  PAGODA_RETURN_IF_ERROR(the_decoder.decode(file, header, pixels.rgb));
  return oriented(std::move(pixels), header.orientation);
}

ImagePixels oriented(ImagePixels pixels, int32_t orientation) {
  if (orientation < 2 || orientation > 8) return pixels;
  ImagePixels out;
  out.width = is_turned(orientation) ? pixels.height : pixels.width;
  out.height = is_turned(orientation) ? pixels.width : pixels.height;
  out.rgb.reserve(pixels.rgb.size());
  for (int32_t y = 0; y < out.height; ++y) {
    for (int32_t x = 0; x < out.width; ++x) {
      const uint8_t* pixel = pixels.rgb.data() + 3 * source_index(orientation, x, y, pixels.width, pixels.height);
      out.rgb.insert(out.rgb.end(), pixel, pixel + 3);
    }
  }
  return out;
}

}  // namespace pagoda::image
