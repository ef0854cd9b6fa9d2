// ThreadPool: runs one index range at a time on a fixed set of threads, including the caller's.
// A worker that runs out of work spins briefly, because the next op of a step follows within microseconds, and then
// blocks in the kernel. Each thread takes its own share of the range front to back, so that its reads are sequential,
// and then steals from the others. The caller waits only for workers that are inside a round: one that has not woken by
// the time all indices are taken misses it. ThreadLevel decides how many of the threads take part.
// State: num_threads - 1 workers and the current range. Thread rule: one caller at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/threads/thread_level.h"

namespace pagoda {

class ThreadPool {
 public:
  // Fails if a thread cannot be created. `on_start` runs on each worker before its first round.
  static Result<std::unique_ptr<ThreadPool>> create(int num_threads,
                                                    std::function<void(int thread_index)> on_start = {});
  ~ThreadPool();
  int num_threads() const noexcept { return num_threads_; }

  // Calls task(context, index, thread_index) once for every index in [0, count), in any order, and waits for all.
  // Results must not depend on which thread runs an index: thread_index only selects scratch memory.
  using Task = void (*)(void* context, int64_t index, int thread_index);
  void run(int64_t count, Task task, void* context) noexcept;

  template <class F>
  void parallel_for(int64_t count, F&& body) noexcept {
    run(
        count,
        [](void* f, int64_t index, int thread) { (*static_cast<std::remove_reference_t<F>*>(f))(index, thread); },
        &body);
  }

 private:
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  explicit ThreadPool(int num_threads)
      : num_threads_(num_threads),
        shares_(static_cast<size_t>(num_threads)),
        level_(num_threads),
        num_active_(num_threads) {}
  void work(int thread_index) noexcept;
  bool enter_round() noexcept;
  int64_t take_indices(int thread_index) noexcept;  // returns how many
  static void run_alone(int64_t count, Task task, void* context) noexcept;
  void run_shared(int64_t count, Task task, void* context) noexcept;
  void announce(int64_t count, Task task, void* context) noexcept;
  void wait_for_workers() noexcept;
  int32_t rounds_until_timing(int64_t own_ns) noexcept;
  void apply_level() noexcept;

  int num_threads_;
  std::vector<std::thread> workers_;
  Task task_ = nullptr;  // with context_, shares_ and num_shares_: written while no worker is inside
  void* context_ = nullptr;
  std::vector<Share> shares_;  // one per thread, of which the first num_shares_ are used
  int num_shares_ = 0;
  ThreadLevel level_;
  int32_t num_untimed_ = 0, timing_stride_ = 1;  // rounds since the last timed one, and from one to the next
  uint32_t random_ = 1;
  std::atomic<bool> closing_{false};
  std::atomic<int32_t> num_active_;                // threads of the level; workers beyond it sleep
  alignas(64) std::atomic<uint32_t> round_{0};     // announces a round
  alignas(64) std::atomic<uint32_t> entrance_{0};  // kOpen while workers may enter, plus the number inside
};

}  // namespace pagoda
