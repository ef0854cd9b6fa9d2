// PreparedImage: an image as a vision tower reads it: resized, normalised and cut into patches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

namespace image {
struct PixelGrid;
}

// How a model wants its images, from preprocessor_config.json. The defaults are those of Qwen3.5.
struct ImageOptions {
  int32_t patch_size = 16;          // pixels per side of a patch
  int32_t merge_size = 2;           // patches per side of the block that becomes one token
  int32_t temporal_patch_size = 2;  // frames of a patch; an image fills all of them
  int64_t min_pixels = 65536;       // height * width after resizing, unless the limits exclude each other
  int64_t max_pixels = 16777216;
  float mean[3] = {0.5f, 0.5f, 0.5f};  // of red, green and blue, as fractions of 255
  float std[3] = {0.5f, 0.5f, 0.5f};
};

// A hash of the resized pixels, the grid and the options that shape the patches: equal for images that look equal to
// the tower.
struct ImageIdentity {
  uint64_t high = 0, low = 0;
  bool operator==(const ImageIdentity&) const = default;
};

// The result of resizing an image of some size, known before any pixel is.
struct ImageGrid {
  Status status;
  int32_t grid_h = 0, grid_w = 0;  // in patches
  int32_t num_tokens = 0;
};

// A value: copies share the pixels, which never change. They are kept as bytes (3 per pixel); patches are computed on
// demand, because they take eight times the memory.
class PreparedImage {
 public:
  PreparedImage() noexcept = default;  // no pixels: all counts are 0
  explicit PreparedImage(std::shared_ptr<const image::PixelGrid> pixels) noexcept : pixels_(std::move(pixels)) {}

  int32_t grid_h() const noexcept;  // in patches; a multiple of merge_size
  int32_t grid_w() const noexcept;
  int32_t num_patches() const noexcept { return grid_h() * grid_w(); }
  int32_t num_tokens() const noexcept;  // num_patches() / merge_size^2
  int32_t patch_dim() const noexcept;   // numbers per patch: 3 * temporal_patch_size * patch_size^2
  ImageIdentity identity() const noexcept;

  // Writes patches [first, first + count) as `count` rows [channel][time][y][x] of patch_dim() numbers. Patches are in
  // merge-block order: block row, block column, row in the block, column in the block. `out` has count * patch_dim()
  // numbers; if the range or the size is wrong, nothing is written and the result is false.
  bool copy_patches(int32_t first, int32_t count, std::span<float> out) const noexcept;

 private:
  std::shared_ptr<const image::PixelGrid> pixels_;
};

struct PreparedImageResult {
  Status status;
  PreparedImage image;
};

// An image of a prompt, and the position of the first of its num_tokens() placeholder tokens.
struct PromptImage {
  int32_t first_token = 0;
  PreparedImage image;
};

// The patches of an image of this size; refuses sizes that the model cannot see (aspect ratio above 200).
ImageGrid image_grid(int32_t width, int32_t height, const ImageOptions& options) noexcept;

// rgb: height rows of width pixels of 3 bytes, without padding; num_bytes must be exactly that.
PreparedImageResult prepare_image(const uint8_t* PAGODA_NONNULL rgb, int64_t num_bytes, int32_t width, int32_t height,
                                  const ImageOptions& options) noexcept;

}  // namespace pagoda
