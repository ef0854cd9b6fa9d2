// PreparedImage of the public headers: shared pixels whose patches are computed on demand.
#include "pagoda/image.h"

#include "api/guard.h"
#include "base/assign_or_return.h"
#include "image/prepare.h"

namespace pagoda {

int32_t PreparedImage::grid_h() const noexcept { return pixels_ ? pixels_->grid_h : 0; }

int32_t PreparedImage::grid_w() const noexcept { return pixels_ ? pixels_->grid_w : 0; }

int32_t PreparedImage::num_tokens() const noexcept {
  return pixels_ ? num_patches() / (pixels_->merge_size * pixels_->merge_size) : 0;
}

int32_t PreparedImage::patch_dim() const noexcept { return pixels_ ? pixels_->patch_dim() : 0; }

ImageIdentity PreparedImage::identity() const noexcept { return pixels_ ? pixels_->identity : ImageIdentity{}; }

bool PreparedImage::copy_patches(int32_t first, int32_t count, std::span<float> out) const noexcept {
  const int64_t dim = patch_dim();
  if (first < 0 || count < 0 || count > num_patches() - first) return false;
  if (static_cast<int64_t>(out.size()) != count * dim) return false;
  for (int32_t i = 0; i < count; ++i) image::write_patch(*pixels_, first + i, out.data() + i * dim);
  return true;
}

ImageGrid image_grid(int32_t width, int32_t height, const ImageOptions& options) noexcept {
  return api::guarded_result<ImageGrid>([&](ImageGrid& grid) -> Status {
    PAGODA_ASSIGN_OR_RETURN(const image::Size size, image::smart_resize({width, height}, options));
    grid.grid_h = size.height / options.patch_size;
    grid.grid_w = size.width / options.patch_size;
    grid.num_tokens = grid.grid_h / options.merge_size * (grid.grid_w / options.merge_size);
    return ok_status();
  });
}

PreparedImageResult prepare_image(const uint8_t* rgb, int64_t num_bytes, int32_t width, int32_t height,
                                  const ImageOptions& options) noexcept {
  return api::guarded_result<PreparedImageResult>([&](PreparedImageResult& result) -> Status {
    PAGODA_ASSIGN_OR_RETURN(auto pixels, image::prepare({rgb, static_cast<size_t>(num_bytes < 0 ? 0 : num_bytes)},
                                                        {width, height}, options));
    result.image = PreparedImage(std::move(pixels));
    return ok_status();
  });
}

}  // namespace pagoda
