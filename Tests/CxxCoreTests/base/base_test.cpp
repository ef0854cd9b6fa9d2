// base: conversions between float types are exact, caches have a folder, and sizes the unit that suits them.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/cache_folder.h"
#include "base/dtype.h"
#include "base/size_text.h"
#include "support/test.h"

namespace pagoda {

PAGODA_TEST(base_bf16_round_trips_every_value) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = bf16_to_f32(static_cast<uint16_t>(bits));
    if (std::isnan(value)) CHECK(std::isnan(bf16_to_f32(f32_to_bf16(value))));
    else CHECK_EQ(f32_to_bf16(value), bits);
  }
}

PAGODA_TEST(base_f16_round_trips_every_value) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = f16_to_f32(static_cast<uint16_t>(bits));
    if (!std::isnan(value)) CHECK_EQ(f32_to_f16(value), bits);
  }
}

PAGODA_TEST(base_bf16_rounds_to_nearest_even) {
  CHECK_EQ(f32_to_bf16(1.0f + 0x1p-8f), f32_to_bf16(1.0f));  // ties round to even
  CHECK_EQ(bf16_to_f32(f32_to_bf16(1.0f + 3 * 0x1p-8f)), 1.0f + 4 * 0x1p-8f);
  CHECK(std::isinf(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::max()))));
}

// Files of 64 GiB without content: the space that they seem to take counts, and other files do not.
PAGODA_TEST(base_cache_folder_space_counts_the_caches_own_files) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  const std::string folder = test::temporary_dir() + "/made/on/the/way";
  const int64_t empty = cache_folder_space(folder, ".x");
  CHECK(empty > 0 && empty < INT64_MAX);
  CHECK(!std::filesystem::exists(folder));
  std::filesystem::create_directories(folder);
  for (const char* name : {"/a.x", "/b.x", "/c.y"}) {
    std::ofstream(folder + name).close();
    std::filesystem::resize_file(folder + name, static_cast<uintmax_t>(64 * kGiB));
  }
  const int64_t grown = cache_folder_space(folder, ".x") - empty;
  CHECK(grown > 100 * kGiB && grown < 150 * kGiB);  // others may use the disk meanwhile
  CHECK_EQ(cache_folder_space("no folder", ".x"), INT64_MAX);
}

PAGODA_TEST(base_cache_folder_is_where_an_app_in_a_container_may_write) {
  CHECK_EQ(cache_folder_in({nullptr, "/a", false}, "x"), std::string("/a/.cache/pagoda/x"));
  CHECK_EQ(cache_folder_in({nullptr, "/a", true}, "x"), std::string("/a/Library/Caches/pagoda/x"));
  CHECK_EQ(cache_folder_in({"/c", "/a", true}, "x"), std::string("/c/pagoda/x"));
  CHECK_EQ(cache_folder_in({"relative", "relative", true}, "x"), std::string());
}

PAGODA_TEST(base_sizes_have_the_unit_that_suits_them) {
  CHECK_EQ(size_text(0), std::string("0 bytes"));
  CHECK_EQ(size_text(1023), std::string("1023 bytes"));
  CHECK_EQ(size_text(1536), std::string("1.50 KiB"));
  CHECK_EQ(size_text(int64_t{19} << 20), std::string("19.0 MiB"));
  CHECK_EQ(size_text(int64_t{105729} << 20), std::string("103.3 GiB"));
  CHECK_EQ(size_text(INT64_MAX), std::string("8388608.0 TiB"));
}

}  // namespace pagoda
