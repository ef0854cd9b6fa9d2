// The public functions for image files.
#include "pagoda/image_decoder.h"

#include <span>
#include <utility>

#include "api/guard.h"
#include "base/assign_or_return.h"
#include "image/files.h"

namespace pagoda {
namespace {

std::span<const uint8_t> bytes_of(const uint8_t* file, int64_t num_bytes) noexcept {
  return {file, static_cast<size_t>(num_bytes < 0 ? 0 : num_bytes)};
}

}  // namespace

bool has_image_decoder() noexcept { return image::has_decoder(); }

ImageHeader read_image_header(const uint8_t* file, int64_t num_bytes, const ImageLimits& limits) noexcept {
  return api::guarded_result<ImageHeader>([&](ImageHeader& header) -> Status {
    PAGODA_ASSIGN_OR_RETURN(header, image::read_header(bytes_of(file, num_bytes), limits));
    if (image::is_turned(header.orientation)) std::swap(header.width, header.height);
    return ok_status();
  });
}

ImagePixels decode_image(const uint8_t* file, int64_t num_bytes, const ImageLimits& limits) noexcept {
  return api::guarded_result<ImagePixels>([&](ImagePixels& pixels) -> Status {
    PAGODA_ASSIGN_OR_RETURN(pixels, image::decode(bytes_of(file, num_bytes), limits));
    return ok_status();
  });
}

PreparedImageResult prepare_image_file(const uint8_t* file, int64_t num_bytes, const ImageLimits& limits,
                                       const ImageOptions& options) noexcept {
  const ImagePixels pixels = decode_image(file, num_bytes, limits);
  if (!pixels.status.is_ok()) return {.status = pixels.status, .image = {}};
  return prepare_image(pixels.rgb.data(), static_cast<int64_t>(pixels.rgb.size()), pixels.width, pixels.height,
                       options);
}

}  // namespace pagoda

extern "C" void pagoda_set_image_decoder(const pagoda::ImageDecoder* decoder) noexcept {
  pagoda::image::set_decoder(*decoder);
}
