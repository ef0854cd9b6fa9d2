// The target size of an image, as transformers computes it.
#include "image/smart_resize.h"

#include <algorithm>
#include <cmath>

#include "base/concat.h"

namespace pagoda::image {
namespace {

constexpr int64_t kMaxSide = 1 << 20;
constexpr int64_t kMaxAspectRatio = 200;
constexpr int64_t kMaxPixels = int64_t{1} << 28;

// `side` / `factor`, rounded to the nearest integer, halves to even as Python does.
int64_t rounded_quotient(int64_t side, int64_t factor) noexcept {
  const int64_t quotient = side / factor, twice_rest = 2 * (side % factor);
  return quotient + (twice_rest > factor || (twice_rest == factor && quotient % 2 == 1) ? 1 : 0);
}

bool is_usable(float mean, float std) noexcept { return std::isfinite(mean) && std::isfinite(std) && std > 0; }

}  // namespace

Status check_options(const ImageOptions& options) {
  const auto is_in = [](int64_t value, int64_t max) { return value >= 1 && value <= max; };
  if (!is_in(options.patch_size, 64) || !is_in(options.merge_size, 8) || !is_in(options.temporal_patch_size, 8))
    return make_error(StatusCode::invalid_argument, "image options: sizes of patches are out of range");
  if (!is_in(options.min_pixels, kMaxPixels) || !is_in(options.max_pixels, kMaxPixels))
    return make_error(StatusCode::invalid_argument,
                      concat("image options: min_pixels and max_pixels must be 1 to ", kMaxPixels));
  for (int channel = 0; channel < 3; ++channel) {
    if (!is_usable(options.mean[channel], options.std[channel]))
      return make_error(StatusCode::invalid_argument, "image options: mean and std must be finite, and std positive");
  }
  return ok_status();
}

Result<Size> smart_resize(Size size, const ImageOptions& options) {
  PAGODA_RETURN_IF_ERROR(check_options(options));
  const int64_t h = size.height, w = size.width, factor = int64_t{options.patch_size} * options.merge_size;
  const std::string image = concat("an image of ", w, " x ", h, " pixels");
  if (h < 1 || w < 1 || h > kMaxSide || w > kMaxSide)
    return make_error(StatusCode::invalid_argument, concat(image, ": both sides must be 1 to ", kMaxSide));
  if (std::max(h, w) > kMaxAspectRatio * std::min(h, w))
    return make_error(StatusCode::invalid_argument,
                      concat(image, ": one side is more than ", kMaxAspectRatio, " times the other"));
  int64_t new_h = rounded_quotient(h, factor) * factor, new_w = rounded_quotient(w, factor) * factor;
  const double sides[] = {static_cast<double>(h), static_cast<double>(w)}, f = static_cast<double>(factor);
  const double area = static_cast<double>(h * w);
  if (new_h * new_w > options.max_pixels) {
    const double beta = std::sqrt(area / static_cast<double>(options.max_pixels));
    new_h = std::max(factor, static_cast<int64_t>(std::floor(sides[0] / beta / f)) * factor);
    new_w = std::max(factor, static_cast<int64_t>(std::floor(sides[1] / beta / f)) * factor);
  } else if (new_h * new_w < options.min_pixels) {
    const double beta = std::sqrt(static_cast<double>(options.min_pixels) / area);
    new_h = static_cast<int64_t>(std::ceil(sides[0] * beta / f)) * factor;
    new_w = static_cast<int64_t>(std::ceil(sides[1] * beta / f)) * factor;
  }
  if (new_h * new_w > 2 * kMaxPixels)
    return make_error(StatusCode::invalid_argument, concat(image, " would become ", new_w, " x ", new_h));
  return Size{.width = static_cast<int32_t>(new_w), .height = static_cast<int32_t>(new_h)};
}

}  // namespace pagoda::image
