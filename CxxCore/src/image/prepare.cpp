// Resizing, hashing, and the order of patches.
#include "image/prepare.h"

#include <algorithm>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/hash128.h"
#include "image/resample.h"

namespace pagoda::image {
namespace {

ImageIdentity identity_of(const PixelGrid& pixels) noexcept {
  Hash128 hash;
  for (const int32_t number : {pixels.grid_h, pixels.grid_w, pixels.patch_size, pixels.merge_size})
    hash.add(static_cast<uint64_t>(number));
  hash.add(std::as_bytes(std::span(pixels.levels)));
  hash.add(std::as_bytes(std::span(pixels.rgb)));
  const Hash128Value value = hash.value();
  return {.high = value.high, .low = value.low};
}

}  // namespace

Result<std::shared_ptr<const PixelGrid>> prepare(std::span<const uint8_t> rgb, Size size, const ImageOptions& options) {
  PAGODA_ASSIGN_OR_RETURN(const Size target, smart_resize(size, options));
  const size_t num_bytes = static_cast<size_t>(size.width) * static_cast<size_t>(size.height) * 3;
  if (rgb.size() != num_bytes)
    return make_error(StatusCode::invalid_argument, concat("an image of ", size.width, " x ", size.height,
                                                           " pixels has ", num_bytes, " bytes, not ", rgb.size()));
  auto pixels = std::make_shared<PixelGrid>();
  pixels->grid_h = target.height / options.patch_size;
  pixels->grid_w = target.width / options.patch_size;
  pixels->patch_size = options.patch_size;
  pixels->merge_size = options.merge_size;
  pixels->temporal_patch_size = options.temporal_patch_size;
  for (int channel = 0; channel < 3; ++channel) {
    for (int level = 0; level < 256; ++level)
      pixels->levels[channel][level] =
          (static_cast<float>(level / 255.0) - options.mean[channel]) / options.std[channel];
  }
  pixels->rgb = resample(rgb, size, target);
  pixels->identity = identity_of(*pixels);
  return std::shared_ptr<const PixelGrid>(std::move(pixels));
}

void write_patch(const PixelGrid& pixels, int32_t index, float* out) noexcept {
  const int32_t merge = pixels.merge_size, side = pixels.patch_size;
  const int32_t in_block = index % (merge * merge), block = index / (merge * merge);
  const int32_t blocks_per_row = pixels.grid_w / merge;
  const int32_t row = block / blocks_per_row * merge + in_block / merge;
  const int32_t column = block % blocks_per_row * merge + in_block % merge;
  const size_t row_bytes = static_cast<size_t>(pixels.grid_w) * static_cast<size_t>(side) * 3;
  const uint8_t* corner = pixels.rgb.data() + static_cast<size_t>(row) * static_cast<size_t>(side) * row_bytes +
                          static_cast<size_t>(column) * static_cast<size_t>(side) * 3;
  const int32_t frame = side * side;
  for (int channel = 0; channel < 3; ++channel) {
    const float* first_frame = out;
    for (int32_t y = 0; y < side; ++y) {
      const uint8_t* line = corner + static_cast<size_t>(y) * row_bytes + channel;
      for (int32_t x = 0; x < side; ++x) *out++ = pixels.levels[channel][line[x * 3]];
    }
    for (int32_t time = 1; time < pixels.temporal_patch_size; ++time) out = std::copy_n(first_frame, frame, out);
  }
}

}  // namespace pagoda::image
