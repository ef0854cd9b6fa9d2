// preprocessor_config.json: both spellings of its limits, Qwen3.5's values without it, and refusals that name the key.
#include "io/config/preprocessor.h"

#include <string>

#include "support/test.h"

namespace pagoda::io {
namespace {

std::string refusal_of(const std::string& text) {
  const Result<ImageOptions> options = read_image_options(text, "preprocessor_config.json", VisionConfig{});
  CHECK(!options.is_ok());
  return options.status.message;
}

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos) test::note(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

PAGODA_TEST(image_preprocessor_reads_both_spellings_of_its_limits) {
  VisionConfig vision;
  vision.patch_size = 14;
  const auto plain = read_image_options("", "", vision);
  REQUIRE(plain.is_ok());
  CHECK_EQ(plain->patch_size, 14);
  CHECK_EQ(plain->min_pixels, int64_t{65536});
  CHECK_EQ(plain->max_pixels, int64_t{16777216});
  const auto edges = read_image_options(
      R"({"size": {"shortest_edge": 3136, "longest_edge": 12845056}, "patch_size": 14, "merge_size": 2,
          "image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]})",
      "", vision);
  REQUIRE(edges.is_ok());
  CHECK_EQ(edges->min_pixels, int64_t{3136});
  CHECK_EQ(edges->max_pixels, int64_t{12845056});
  CHECK(edges->mean[0] == 0.48f && edges->std[2] == 0.28f);
  const auto pixels = read_image_options(R"({"min_pixels": 100, "max_pixels": 200})", "", vision);
  REQUIRE(pixels.is_ok());
  CHECK_EQ(pixels->min_pixels, int64_t{100});
  CHECK_EQ(pixels->max_pixels, int64_t{200});
}

PAGODA_TEST(image_preprocessor_refuses_what_contradicts_the_model) {
  CHECK(contains(refusal_of(R"({"patch_size": 14})"), "patch_size"));
  CHECK(contains(refusal_of(R"({"size": {"longest_edge": 0}})"), "longest_edge"));
  CHECK(contains(refusal_of(R"({"image_mean": [1, 2]})"), "image_mean"));
  CHECK(contains(refusal_of("[]"), "not an object"));
  CHECK(!refusal_of("{").empty());
}

}  // namespace pagoda::io
