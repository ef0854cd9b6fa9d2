// host::RowTasks: every row once, in any division among threads, and the error of the first rows that fail; weights
// have the same bytes however many threads read them.
#include "device/host/row_tasks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <random>
#include <vector>

#include "base/concat.h"
#include "device/registry.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::host::RowTasks;

constexpr WeightFormat kConverted[] = {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8,
                                       WeightFormat::q4};

device::WeightSource source_of(const std::vector<float>& numbers, DType dtype, int64_t rows, int64_t cols) {
  device::WeightSource source{"numbers", dtype, rows, cols, nullptr};
  source.read_rows = [&numbers, dtype, cols](int64_t begin, int64_t count, std::byte* into) {
    for (int64_t i = begin * cols; i < (begin + count) * cols; ++i, into += dtype_bytes(dtype)) {
      const float number = numbers[static_cast<size_t>(i)];
      const uint16_t half = dtype == DType::f16 ? f32_to_f16(number) : f32_to_bf16(number);
      if (dtype == DType::f32) std::memcpy(into, &number, 4);
      else std::memcpy(into, &half, 2);
    }
    return ok_status();
  };
  return source;
}

}  // namespace

PAGODA_TEST(row_tasks_run_every_row_once) {
  for (const int num_threads : {1, 2, 5}) {
    auto pool = ThreadPool::create(num_threads);
    REQUIRE_OK(pool);
    for (const int64_t rows : {1, 15, 16, 1000, 70001}) {
      device::WeightSource source{"rows", DType::f32, rows, 1024, nullptr};
      int64_t num_reported = 0;
      source.rows_done = [&](int64_t count) {
        num_reported += count;
        return ok_status();
      };
      const RowTasks tasks(source, 4096, 16, num_threads > 1 ? pool->get() : nullptr);
      std::vector<std::atomic<int>> seen(static_cast<size_t>(rows));
      std::atomic<int> num_odd{0};  // tasks with another number of rows than planned, or not from a multiple
      const Status status = tasks.run([&](int64_t first, int64_t count, int) {
        if (first % 16 != 0 || count > tasks.max_rows() || (count % 16 != 0 && first + count != rows)) ++num_odd;
        for (int64_t i = first; i < first + count; ++i) ++seen[static_cast<size_t>(i)];
        return ok_status();
      });
      CHECK_OK(status);
      CHECK_EQ(num_odd.load(), 0);
      CHECK_EQ(num_reported, rows);
      CHECK(std::ranges::all_of(seen, [](const auto& count) { return count.load() == 1; }));
    }
  }
}

PAGODA_TEST(row_tasks_report_the_first_failing_rows) {
  auto pool = ThreadPool::create(4);
  REQUIRE_OK(pool);
  device::WeightSource source{"broken", DType::f32, 4000, 1024, nullptr};
  const RowTasks tasks(source, 4096, 16, pool->get());
  for (int round = 0; round < 20; ++round) {
    const Status status = tasks.run([&](int64_t first, int64_t count, int) {
      const int64_t last = first + count;
      return last > 1500 ? make_error(StatusCode::bad_file, concat("rows to ", last)) : ok_status();
    });
    const int64_t wanted = (1500 / tasks.max_rows() + 1) * tasks.max_rows();
    CHECK_EQ(status.message, concat("rows to ", wanted));
  }
  const Status status = tasks.run([](int64_t, int64_t, int) -> Status { throw std::bad_alloc(); });
  CHECK(status.code == StatusCode::out_of_memory && status.message.find("broken") != std::string::npos);
}

// From every type of floats, with and without padding at the end of a row.
PAGODA_TEST(row_tasks_do_not_change_the_bytes_of_weights) {
  std::mt19937_64 random(seed(83));
  std::normal_distribution<float> normal(0, 0.1f);
  constexpr int64_t kRows = 1203;
  for (const int64_t cols : {256, 200}) {
    std::vector<float> numbers(static_cast<size_t>(kRows * cols));
    for (float& number : numbers) number = normal(random);
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      for (const WeightFormat format : kConverted) {
        std::vector<std::vector<std::byte>> bytes;
        for (const int num_threads : {1, 3}) {
          auto device = device::make_device("cpu", num_threads);
          REQUIRE_OK(device);
          const auto weight = (*device)->make_weight(source_of(numbers, dtype, kRows, cols), format);
          REQUIRE_OK(weight);
          bytes.emplace_back((*weight)->bytes().begin(), (*weight)->bytes().end());
        }
        if (bytes[0] != bytes[1]) note(concat(dtype_name(dtype), " as ", weight_format_name(format)));
        CHECK(!bytes[0].empty() && bytes[0] == bytes[1]);
      }
    }
  }
}

// A copied row of bf16 is the row that its floats give.
PAGODA_TEST(row_tasks_copy_bf16_as_its_floats_round) {
  std::mt19937_64 random(seed(84));
  std::normal_distribution<float> normal(0, 0.1f);
  for (const int64_t cols : {256, 200}) {
    constexpr int64_t kRows = 50;
    std::vector<float> numbers(static_cast<size_t>(kRows * cols));
    for (float& number : numbers) number = bf16_to_f32(f32_to_bf16(normal(random)));
    auto device = device::make_device("cpu", 2);
    REQUIRE_OK(device);
    const auto copied = (*device)->make_weight(source_of(numbers, DType::bf16, kRows, cols), WeightFormat::bf16);
    const auto rounded = (*device)->make_weight(source_of(numbers, DType::f32, kRows, cols), WeightFormat::bf16);
    REQUIRE_OK(copied);
    REQUIRE_OK(rounded);
    CHECK(std::ranges::equal((*copied)->bytes(), (*rounded)->bytes()));
  }
}

}  // namespace pagoda::test
