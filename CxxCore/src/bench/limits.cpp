// Measures hardware limits: runs each loop on all threads at once and takes the best of several passes.
#include "bench/limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/concat.h"
#include "base/threads/thread_pool.h"
#include "base/threads/usable_cores.h"
#include "bench/loops.h"
#include "device/host/host_memory.h"

namespace pagoda::bench {
namespace {

constexpr size_t kBufferBytes = size_t{512} << 20;
constexpr double kReadSeconds = 0.3, kArithmeticPassSeconds = 0.005;
constexpr int kMinReadPasses = 3, kArithmeticPasses = 5;
constexpr int32_t kMaxThreads = 1024;

template <class Body>
double seconds_of(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Measurement {
 public:
  Measurement(ThreadPool& pool, std::byte* buffer) : pool_(pool), buffer_(buffer) {
    part_bytes_ = kBufferBytes / static_cast<size_t>(pool_.num_threads()) / kReadUnit * kReadUnit;
    // Untouched pages would all map to the single zero page, which stays in cache.
    on_every_thread([&](std::byte* part) { std::memset(part, 1, part_bytes_); });
  }

  double read_bytes_per_second() {
    const ReadLoop read = read_loop();
    std::atomic<uint64_t> sink{0};
    double best = 0, spent = 0;
    for (int pass = 0; pass < kMinReadPasses || spent < kReadSeconds; ++pass) {
      const double seconds =
          seconds_of([&] { on_every_thread([&](std::byte* part) { sink += read(part, part_bytes_); }); });
      spent += seconds;
      best = std::max(best, static_cast<double>(part_bytes_) * pool_.num_threads() / seconds);
    }
    return best;
  }

  double operations_per_second(const ArithmeticLoop& loop) {
    int64_t rounds = 1;
    double seconds = 0, best = 0;
    const auto pass = [&] {
      seconds = seconds_of([&] { on_every_thread([&](std::byte* part) { loop.run(rounds, part); }); });
    };
    for (pass(); seconds < kArithmeticPassSeconds; pass()) rounds *= 2;
    for (int i = 0; i < kArithmeticPasses; ++i) {
      pass();
      best = std::max(best, loop.operations_per_round * static_cast<double>(rounds) * pool_.num_threads() / seconds);
    }
    return best;
  }

 private:
  template <class Body>
  void on_every_thread(Body&& body) {
    pool_.parallel_for(pool_.num_threads(),
                       [&](int64_t index, int) { body(buffer_ + static_cast<size_t>(index) * part_bytes_); });
  }

  ThreadPool& pool_;
  std::byte* buffer_;
  size_t part_bytes_;  // per thread
};

std::vector<ArithmeticLoop> loops_of_this_machine() {
  for (const auto& loops : {x86_loops(), arm_loops()})
    if (!loops.empty()) return loops;
  return portable_loops();
}

void keep_best(const ArithmeticLoop& loop, double speed, MachineLimits& limits) {
  const auto keep = [&](double& best, std::string& instruction) {
    if (speed > best) best = speed, instruction = loop.instruction;
  };
  if (loop.kind == OpLimit::int8) keep(limits.int8_ops_per_second, limits.int8_instruction);
  if (loop.kind == OpLimit::f32) keep(limits.f32_ops_per_second, limits.f32_instruction);
  if (loop.kind != OpLimit::int8) keep(limits.bf16_ops_per_second, limits.bf16_instruction);
}

}  // namespace

MachineLimits measure(int32_t num_threads) {
  MachineLimits limits;
  if (num_threads == 0) num_threads = usable_cores();
  limits.num_threads = num_threads;
  if (num_threads < 0 || num_threads > kMaxThreads) {
    limits.status = make_error(StatusCode::invalid_argument,
                               concat("num_threads is ", num_threads, ", it must be from 0 to ", kMaxThreads));
    return limits;
  }
  // Before the threads start: they inherit the AMX permission only if it was granted first.
  const auto loops = loops_of_this_machine();
  auto pool = ThreadPool::create(num_threads);
  auto buffer = device::host::make_buffer(kBufferBytes, "the buffer for measuring memory");
  limits.status = !pool.is_ok() ? pool.status : buffer.status;
  if (!limits.status.is_ok()) return limits;
  Measurement measurement(**pool, (*buffer)->host_pointer());
  limits.read_bytes_per_second = measurement.read_bytes_per_second();
  for (const ArithmeticLoop& loop : loops) keep_best(loop, measurement.operations_per_second(loop), limits);
  return limits;
}

}  // namespace pagoda::bench
