// Image files: pixels equal Pillow's, EXIF rotates, and damaged or huge files are refused before memory is taken.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "pagoda/image_decoder.h"
#include "support/test.h"

namespace pagoda {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

int64_t size_of(const Bytes& bytes) { return static_cast<int64_t>(bytes.size()); }

std::vector<std::filesystem::path> files_in(const std::string& folder,
                                            bool (*is_wanted)(const std::filesystem::path&)) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(test::fixtures_dir() + folder)) {
    if (entry.is_regular_file() && is_wanted(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// False, with a note, in builds without the decoders (aarch64, whose libraries are not here).
bool can_decode() {
  if (!has_image_decoder()) test::note("this build has no image decoders");
  return has_image_decoder();
}

std::string refusal_of(const Bytes& file, const ImageLimits& limits) {
  const ImagePixels pixels = decode_image(file.data(), size_of(file), limits);
  CHECK(!pixels.status.is_ok());
  CHECK(pixels.rgb.empty());
  return pixels.status.message;
}

}  // namespace

// Lossless formats have the same bytes; JPEG and lossy WebP may differ by rounding between versions of the libraries.
PAGODA_TEST(image_files_decode_to_the_pixels_of_pillow) {
  if (!can_decode()) return;
  const auto files = files_in(
      "/images", [](const std::filesystem::path& path) { return std::filesystem::exists(path.string() + ".rgb"); });
  CHECK(files.size() >= 30);
  for (const auto& path : files) {
    const Bytes file = bytes_of_file(path), wanted = bytes_of_file(path.string() + ".rgb");
    REQUIRE(wanted.size() > 8);
    const ImagePixels pixels = decode_image(file.data(), size_of(file), {});
    const std::string name = path.filename().string();
    if (!pixels.status.is_ok()) test::fail(__FILE__, __LINE__, name + ": " + pixels.status.message);
    CHECK_EQ(pixels.width, wanted[0] + 256 * wanted[1]);
    CHECK_EQ(pixels.height, wanted[4] + 256 * wanted[5]);
    REQUIRE(pixels.rgb.size() + 8 == wanted.size());
    int worst = 0;
    for (size_t i = 0; i < pixels.rgb.size(); ++i) worst = std::max(worst, std::abs(pixels.rgb[i] - wanted[i + 8]));
    const bool is_lossy = path.extension() == ".jpg" || name.find("lossy") != std::string::npos;
    if (worst > (is_lossy ? 2 : 0)) test::fail(__FILE__, __LINE__, name + " differs by " + std::to_string(worst));
    const ImageHeader header = read_image_header(file.data(), size_of(file), {});
    CHECK(header.status.is_ok() && header.width == pixels.width && header.height == pixels.height);
  }
}

PAGODA_TEST(image_files_that_are_damaged_huge_or_of_other_formats_are_refused) {
  if (!can_decode()) return;
  const auto files = files_in("/images/refused", [](const std::filesystem::path&) { return true; });
  CHECK(files.size() >= 18);
  for (const auto& path : files) {
    const Bytes file = bytes_of_file(path);
    const std::string message = refusal_of(file, {}), name = path.filename().string();
    const char* reason = name.starts_with("bomb") ? "the limit is" : name.starts_with("half_of") ? "truncated" : "";
    if (message.empty() || message.find(reason) == std::string::npos)
      test::fail(__FILE__, __LINE__, name + ": " + message);
  }
}

PAGODA_TEST(image_file_limits_are_checked_before_decoding) {
  if (!can_decode()) return;
  const Bytes file = bytes_of_file(test::fixtures_dir() + "/images/rgb.png");
  CHECK(refusal_of(file, {.max_bytes = size_of(file) - 1}).find("bytes; the limit is") != std::string::npos);
  CHECK(refusal_of(file, {.max_pixels = 21 * 13 - 1}).find("21 x 13 pixels; the limit is") != std::string::npos);
  CHECK(decode_image(file.data(), size_of(file), {.max_bytes = size_of(file), .max_pixels = 21 * 13}).status.is_ok());
}

// Any cut of any file is refused or gives a whole picture (the last bytes of some formats are not needed); with the
// address sanitizer this also finds reads beyond the end.
PAGODA_TEST(image_files_cut_anywhere_are_handled) {
  if (!can_decode()) return;
  for (const char* name :
       {"palette_transparent.png", "turned_6.jpg", "progressive.jpg", "alpha.webp", "lossy_alpha.webp"}) {
    const Bytes whole = bytes_of_file(test::fixtures_dir() + "/images/" + name);
    REQUIRE(whole.size() > 40);
    for (size_t size = 0; size < whole.size(); ++size) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const ImagePixels pixels = decode_image(cut.data() != nullptr ? cut.data() : whole.data(), size_of(cut), {});
      CHECK(pixels.status.is_ok() ? pixels.rgb.size() == 21 * 13 * 3 : !pixels.status.message.empty());
    }
  }
}

}  // namespace pagoda
