// ThreadPool: a round is announced by a counter that workers watch, first spinning, then blocked in the kernel.
#include "base/thread_pool.h"

#include <memory>
#include <string>
#include <system_error>

#include "base/concat.h"

namespace pagoda {
namespace {

// About 50 microseconds: longer than the gap between two ops, shorter than a time slice, so that when threads
// outnumber cores, a waiting thread soon yields to the one it waits for.
constexpr int kSpins = 2000;

void pause_briefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // `yield` is a no-op on most cores; isb takes about as long as x86's pause
#endif
}

// Returns once `value` is no longer `old`.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) noexcept {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(int num_threads) {
  if (num_threads < 1 || num_threads > 1024)
    return make_error(StatusCode::invalid_argument, concat("threads must be 1 to 1024, not ", num_threads));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(num_threads));
  try {
    for (int i = 1; i < num_threads; ++i) pool->workers_.emplace_back([p = pool.get(), i] { p->work(i); });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::resource_exhausted, std::string("cannot start a thread: ") + error.what());
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  closing_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_indices(int thread_index) noexcept {
  for (int i = 0; i < num_threads_; ++i) {
    Share& share = shares_[(thread_index + i) % num_threads_];
    for (int64_t index; (index = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
      task_(context_, index, thread_index);
  }
}

void ThreadPool::work(int thread_index) noexcept {
  for (uint32_t seen_round = 0;;) {
    wait_for_change(round_, seen_round);
    ++seen_round;  // no round starts before every worker has finished the previous one
    if (closing_) return;
    take_indices(thread_index);
    if (num_busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) num_busy_.notify_one();
  }
}

void ThreadPool::run(int64_t count, Task task, void* context) noexcept {
  if (count <= 0) return;
  if (count == 1 || workers_.empty()) {
    for (int64_t i = 0; i < count; ++i) task(context, i, 0);
    return;
  }
  task_ = task;
  context_ = context;
  for (int64_t i = 0; i < num_threads_; ++i) {
    Share& share = shares_[i];
    share.next.store(count * i / num_threads_, std::memory_order_relaxed);
    share.end = count * (i + 1) / num_threads_;
  }
  num_busy_.store(static_cast<uint32_t>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  take_indices(0);
  for (uint32_t busy; (busy = num_busy_.load(std::memory_order_acquire)) != 0;) wait_for_change(num_busy_, busy);
}

}  // namespace pagoda
