// base: conversions between float types are exact, and caches have a folder.
#include <cmath>
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

PAGODA_TEST(base_cache_folder_is_where_an_app_in_a_container_may_write) {
  CHECK_EQ(cache_folder_in({nullptr, "/a", false}, "x"), std::string("/a/.cache/pagoda/x"));
  CHECK_EQ(cache_folder_in({nullptr, "/a", true}, "x"), std::string("/a/Library/Caches/pagoda/x"));
  CHECK_EQ(cache_folder_in({"/c", "/a", true}, "x"), std::string("/c/pagoda/x"));
  CHECK_EQ(cache_folder_in({"relative", "relative", true}, "x"), std::string());
}

}  // namespace pagoda
