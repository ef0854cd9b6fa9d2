// Measured limits: positive, finite, in a sensible order, with the instruction named; and the loops that measure them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "bench/loops.h"
#include "pagoda/bench.h"
#include "support/test.h"

namespace pagoda::bench {

PAGODA_TEST(bench_limits_are_positive_and_name_their_instruction) {
  const MachineLimits limits = measure_limits(1);
  REQUIRE_OK(limits.status);
  CHECK_EQ(limits.num_threads, 1);
  for (double speed : {limits.read_bytes_per_second, limits.int8_ops_per_second, limits.bf16_ops_per_second,
                       limits.f32_ops_per_second}) {
    CHECK(std::isfinite(speed) && speed > 1e6);
  }
  CHECK(limits.bf16_ops_per_second >= limits.f32_ops_per_second);
  for (const std::string& name : {limits.int8_instruction, limits.bf16_instruction, limits.f32_instruction})
    CHECK(!name.empty());
}

PAGODA_TEST(bench_limits_of_a_device_are_of_its_own_kernels) {
  const MachineLimits limits = measure_device_limits("software", 2);
  REQUIRE_OK(limits.status);
  test::note(std::to_string(limits.read_bytes_per_second / 1e9) + " GB/s, " +
             std::to_string(limits.bf16_ops_per_second / 1e9) + " G/s");
  CHECK_EQ(limits.num_threads, 0);
  for (double speed : {limits.read_bytes_per_second, limits.bf16_ops_per_second})
    CHECK(std::isfinite(speed) && speed > 1e3);
  CHECK_EQ(limits.bf16_instruction, std::string("matmul"));
  CHECK(measure_device_limits("cpu", 1).status.code == StatusCode::unsupported);
  CHECK(measure_device_limits("quantum", 1).status.code == StatusCode::invalid_argument);
}

PAGODA_TEST(bench_limits_refuse_impossible_thread_counts) {
  CHECK(measure_limits(-1).status.code == StatusCode::invalid_argument);
  CHECK(measure_limits(100'000).status.code == StatusCode::invalid_argument);
}

PAGODA_TEST(bench_read_loop_reads_every_word) {
  std::vector<uint64_t> words(3 * kReadUnit / sizeof(uint64_t));
  std::mt19937_64 random(test::seed(3));
  std::ranges::generate(words, std::ref(random));
  uint64_t expected = 0;
  for (uint64_t word : words) expected ^= word;
  const std::byte* data = reinterpret_cast<const std::byte*>(words.data());
  CHECK_EQ(read_loop()(data, words.size() * sizeof(uint64_t)), expected);
}

PAGODA_TEST(bench_every_arithmetic_loop_runs_here) {
  struct alignas(64) Scratch {
    std::byte bytes[kScratchBytes];
  };
  const auto scratch = std::make_unique<Scratch>();
  std::memset(scratch->bytes, 1, kScratchBytes);
  for (const auto& loops : {portable_loops(), x86_loops(), arm_loops()}) {
    for (const ArithmeticLoop& loop : loops) {
      CHECK(loop.operations_per_round > 0 && loop.kind != OpLimit::read);
      loop.run(3, scratch->bytes);
      test::note(loop.instruction);
    }
  }
}

}  // namespace pagoda::bench
