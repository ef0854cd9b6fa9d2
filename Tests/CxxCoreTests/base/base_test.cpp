// base: conversions between float types are exact, and caches have a folder.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/cache_folder.h"
#include "base/dtype.h"
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

}  // namespace pagoda
