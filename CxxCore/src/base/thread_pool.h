// ThreadPool: runs one index range at a time on a fixed set of threads, the caller among them.
// A worker that ran out of work spins for a moment, because the next op of a step follows within microseconds, and
// then parks in the system. Each thread takes its own share of the range from front to back, so that what it reads next
// lies behind what it just read, and then what the others have left. State: num_threads - 1 workers and the range in
// flight. Thread rule: one caller at a time.
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
  static Result<std::unique_ptr<ThreadPool>> create(int num_threads);  // fails when the system refuses a thread
  ~ThreadPool();
  int num_threads() const noexcept { return num_threads_; }

  // Calls task(context, index, thread_index) once for every index in [0, count), in any order, and waits for all.
  // Nothing may depend on which thread takes an index: thread_index is for scratch memory only.
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
  Task task_ = nullptr;  // written before round_ moves on, read after
  void* context_ = nullptr;
  std::vector<Share> shares_;  // by thread
  bool closing_ = false;
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<uint32_t> num_busy_{0};  // workers that have not finished this round
};

}  // namespace pagoda
