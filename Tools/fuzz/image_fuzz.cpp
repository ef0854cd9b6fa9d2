// Fuzzes the image decoders: any bytes give pixels within the limits, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pagoda/image_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const pagoda::ImageLimits limits{.max_bytes = 1 << 16, .max_pixels = 1 << 18};
  const auto num_bytes = static_cast<int64_t>(size);
  const pagoda::ImageHeader header = pagoda::read_image_header(data, num_bytes, limits);
  const pagoda::ImagePixels pixels = pagoda::decode_image(data, num_bytes, limits);
  if (!pixels.status.is_ok()) return 0;
  const bool is_whole = header.status.is_ok() && header.width == pixels.width && header.height == pixels.height &&
                        pixels.rgb.size() == static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.height) * 3;
  if (!is_whole) std::abort();
  return 0;
}
