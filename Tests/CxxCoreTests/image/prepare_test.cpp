// Resizing and cutting into patches match Qwen2VLImageProcessor.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/json.h"
#include "io/model_files.h"
#include "pagoda/image.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

constexpr size_t kNumSamples = 150, kStride = 1000003;  // as in Tools/fixtures/image_processor_fixtures.py

int64_t level_of(const std::string& mode, int64_t x, int64_t y, int64_t c) {
  if (mode == "rings") return (x * x + y * y) / 8 * (c + 1) % 256;
  if (mode == "noise") return ((x * 73 + y * 151 + c * 199) * (x * 31 + y * 17 + c + 1) >> 4) % 256;
  if (mode == "stripes") return (x / 3 + y / 5 + c) % 2 * 255;
  return (x * 5 + y * 3) % 256;
}

struct Case {
  const io::Json& json;
  int32_t number(const char* name) const { return static_cast<int32_t>(json.find(name)->as_integer()); }
  ImageOptions options() const {
    ImageOptions options;
    options.patch_size = number("patch");
    options.min_pixels = number("min_pixels");
    options.max_pixels = number("max_pixels");
    return options;
  }
  std::vector<uint8_t> picture() const {
    std::vector<uint8_t> pixels;
    for (int32_t y = 0; y < number("height"); ++y)
      for (int32_t x = 0; x < number("width"); ++x)
        for (int32_t c = 0; c < 3; ++c)
          pixels.push_back(static_cast<uint8_t>(level_of(json.find("mode")->as_string(), x, y, c)));
    return pixels;
  }
};

void check_case(const Case& one) {
  const std::vector<uint8_t> pixels = one.picture();
  const PreparedImageResult made = prepare_image(pixels.data(), static_cast<int64_t>(pixels.size()),
                                                 one.number("width"), one.number("height"), one.options());
  REQUIRE_OK(made.status);
  const ImageGrid grid = image_grid(one.number("width"), one.number("height"), one.options());
  const auto& wanted_grid = one.json.find("grid")->items();
  CHECK_EQ(int64_t{made.image.grid_h()}, wanted_grid[0].as_integer());
  CHECK_EQ(int64_t{made.image.grid_w()}, wanted_grid[1].as_integer());
  CHECK(grid.grid_h == made.image.grid_h() && grid.grid_w == made.image.grid_w());
  std::vector<float> numbers(static_cast<size_t>(made.image.num_patches()) *
                             static_cast<size_t>(made.image.patch_dim()));
  CHECK(made.image.copy_patches(0, made.image.num_patches(), numbers));
  const auto& levels = one.json.find("levels")->items();
  CHECK_EQ(levels.size(), kNumSamples);
  int64_t worst = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const float number = numbers[i * kStride % numbers.size()];
    const auto level = static_cast<int64_t>(std::lround((number * 0.5 + 0.5) * 255));
    worst = std::max(worst, std::abs(level - levels[i].as_integer()));
  }
  if (worst > 1)
    fail(__FILE__, __LINE__,
         std::to_string(one.number("width")) + " x " + std::to_string(one.number("height")) + ": a pixel is off by " +
             std::to_string(worst));
}

}  // namespace

PAGODA_TEST(image_geometry_and_pixels_match_the_processor_of_transformers) {
  const auto files = io::open_model_files({.directory = fixtures_dir() + "/vision", .files = {}});
  REQUIRE_OK(files);
  const auto text = (*files)->read_text("processor.json", 1 << 20);
  REQUIRE_OK(text);
  const auto cases = io::parse_json(*text);
  REQUIRE_OK(cases);
  CHECK_EQ(cases->items().size(), size_t{40});
  for (const io::Json& one : cases->items()) check_case({one});
}

}  // namespace pagoda::test
