// ThreadPool: runs one index range at a time on a fixed set of threads, including the caller's.
// A worker that runs out of work spins briefly, because the next op of a step follows within microseconds, and then
// blocks in the kernel. Each thread takes its own share of the range front to back, so that its reads are sequential,
// and then steals from the others. State: num_threads - 1 workers and the current range.
// Thread rule: one caller at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace pagoda {

class ThreadPool {
 public:
  static Result<std::unique_ptr<ThreadPool>> create(int num_threads);  // fails if a thread cannot be created
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
  explicit ThreadPool(int num_threads) : num_threads_(num_threads), shares_(static_cast<size_t>(num_threads)) {}
  void work(int thread_index) noexcept;
  void take_indices(int thread_index) noexcept;

  int num_threads_;
  std::vector<std::thread> workers_;
  Task task_ = nullptr;  // written before round_ is incremented, read after
  void* context_ = nullptr;
  std::vector<Share> shares_;  // one per thread
  bool closing_ = false;
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<uint32_t> num_busy_{0};  // workers that have not finished this round
};

}  // namespace pagoda
