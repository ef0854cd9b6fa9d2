// ThreadPool: a round is announced by a counter that workers watch, first spinning, then blocked in the kernel.
#include "base/threads/thread_pool.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/concat.h"

namespace pagoda {
namespace {

// About 50 microseconds: longer than the gap between two ops, shorter than a time slice, so that when threads
// outnumber cores, a waiting thread soon yields to the one it waits for.
constexpr int kSpins = 2000;
constexpr uint32_t kOpen = 1u << 31;

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

int64_t now_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t thread_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(int num_threads, std::function<void(int)> on_start) {
  if (num_threads < 1 || num_threads > 1024)
    return make_error(StatusCode::invalid_argument, concat("threads must be 1 to 1024, not ", num_threads));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(num_threads));
  try {
    for (int i = 1; i < num_threads; ++i)
      pool->workers_.emplace_back([p = pool.get(), i, on_start] {
        if (on_start) on_start(i);
        p->work(i);
      });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::resource_exhausted, std::string("cannot start a thread: ") + error.what());
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  closing_ = true;
  num_active_ = num_threads_;
  num_active_.notify_all();
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

int64_t ThreadPool::take_indices(int thread_index) noexcept {
  int64_t num_taken = 0;
  for (int i = 0; i < num_shares_; ++i) {
    Share& share = shares_[(thread_index + i) % num_shares_];
    for (int64_t index; (index = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end; ++num_taken)
      task_(context_, index, thread_index);
  }
  return num_taken;
}

// False if the round that woke the worker is over.
bool ThreadPool::enter_round() noexcept {
  uint32_t state = entrance_.load(std::memory_order_relaxed);
  while (state & kOpen)
    if (entrance_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) return true;
  return false;
}

void ThreadPool::work(int thread_index) noexcept {
  for (uint32_t seen_round = 0;;) {
    for (int32_t active; (active = num_active_.load(std::memory_order_acquire)) <= thread_index;)
      num_active_.wait(active, std::memory_order_acquire);
    wait_for_change(round_, seen_round);
    seen_round = round_.load(std::memory_order_acquire);
    if (closing_) return;
    if (num_active_.load(std::memory_order_relaxed) <= thread_index || !enter_round()) continue;
    take_indices(thread_index);
    if (entrance_.fetch_sub(1, std::memory_order_acq_rel) == 1) entrance_.notify_one();  // closed, and the last
  }
}

void ThreadPool::run(int64_t count, Task task, void* context) noexcept {
  if (level_.is_lowered()) {
    level_.try_raise(now_ns());
    apply_level();
  }
  if (count < 2 || level_.threads() == 1) run_alone(count, task, context);
  else run_shared(count, task, context);
}

void ThreadPool::run_alone(int64_t count, Task task, void* context) noexcept {
  for (int64_t i = 0; i < count; ++i) task(context, i, 0);
}

void ThreadPool::run_shared(int64_t count, Task task, void* context) noexcept {
  const bool is_timed = ++num_untimed_ >= timing_stride_;
  const int64_t begin_ns = is_timed ? now_ns() : 0;
  announce(count, task, context);
  int64_t saved_ns = is_timed ? (begin_ns - now_ns()) * num_untimed_ : 0;
  const int64_t begin_cpu_ns = is_timed ? thread_cpu_ns() : 0;
  const int64_t num_own = take_indices(0);
  if (is_timed) {
    const int64_t own_ns = thread_cpu_ns() - begin_cpu_ns;
    saved_ns += level_.saved_ns(own_ns, num_own, count) * num_untimed_;
    timing_stride_ = rounds_until_timing(own_ns);
    num_untimed_ = 0;
  }
  if (entrance_.fetch_and(~kOpen, std::memory_order_acq_rel) != kOpen) {
    const int64_t wait_ns = now_ns();
    wait_for_workers();
    const int64_t end_ns = now_ns();
    level_.add(saved_ns + wait_ns - end_ns, end_ns);
    apply_level();
  } else if (is_timed) {
    level_.add(saved_ns, begin_ns);
    apply_level();
  }
}

void ThreadPool::announce(int64_t count, Task task, void* context) noexcept {
  task_ = task;
  context_ = context;
  num_shares_ = level_.threads();
  for (int64_t i = 0; i < num_shares_; ++i) {
    Share& share = shares_[i];
    share.next.store(count * i / num_shares_, std::memory_order_relaxed);
    share.end = count * (i + 1) / num_shares_;
  }
  entrance_.store(kOpen, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void ThreadPool::wait_for_workers() noexcept {
  for (uint32_t inside; (inside = entrance_.load(std::memory_order_acquire)) != 0;) wait_for_change(entrance_, inside);
}

// Reading the CPU clock twice takes half a microsecond: long rounds are all timed, short ones about every 16th.
// A random stride, because the ops of a step repeat.
int32_t ThreadPool::rounds_until_timing(int64_t own_ns) noexcept {
  const int64_t mean = std::clamp<int64_t>(100'000 / std::max<int64_t>(own_ns, 1), 1, 16);
  random_ = random_ * 1664525 + 1013904223;
  return static_cast<int32_t>(1 + (random_ >> 16) % (2 * mean - 1));
}

void ThreadPool::apply_level() noexcept {
  const int32_t before = num_active_.load(std::memory_order_relaxed), active = level_.threads();
  if (active == before) return;
  num_active_.store(active, std::memory_order_release);
  if (active > before) num_active_.notify_all();
}

}  // namespace pagoda
