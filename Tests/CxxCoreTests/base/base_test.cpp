// base: conversions between float types are exact, and the thread pool runs every index once.
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "base/cache_folder.h"
#include "base/dtype.h"
#include "base/thread_pool.h"
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

PAGODA_TEST(base_thread_pool_runs_every_index_once) {
  for (int threads = 1; threads <= 4; ++threads) {
    auto pool = ThreadPool::create(threads);
    REQUIRE_OK(pool);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      (*pool)->parallel_for(count, [&](int64_t i, int thread) {
        CHECK(thread >= 0 && thread < threads);
        ++seen[static_cast<size_t>(i)];
      });
      for (auto& n : seen) CHECK_EQ(n.load(), 1);
    }
  }
}

PAGODA_TEST(base_thread_pool_refuses_bad_counts) {
  CHECK(ThreadPool::create(0).status.code == StatusCode::invalid_argument);
  CHECK(ThreadPool::create(100000).status.code == StatusCode::invalid_argument);
}

}  // namespace pagoda
