// ThreadPool: workers sleep on a condition variable between rounds and share an index counter within one.
#include "base/thread_pool.h"

#include <memory>
#include <string>
#include <system_error>

namespace pagoda {

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(int num_threads) {
  if (num_threads < 1 || num_threads > 1024)
    return make_error(StatusCode::invalid_argument, "threads must be 1 to 1024, not " + std::to_string(num_threads));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(num_threads));
  try {
    for (int i = 1; i < num_threads; ++i) pool->workers_.emplace_back([p = pool.get(), i] { p->work(i); });
  } catch (const std::system_error& error) {
    return make_error(StatusCode::resource_exhausted, std::string("cannot start a thread: ") + error.what());
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_indices(int thread_index) noexcept {
  for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) task_(context_, i, thread_index);
}

void ThreadPool::work(int thread_index) noexcept {
  uint64_t seen_round = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return closing_ || round_ != seen_round; });
    if (closing_) return;
    seen_round = round_;
    lock.unlock();
    take_indices(thread_index);
    lock.lock();
    if (--num_busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::run(int64_t count, Task task, void* context) noexcept {
  if (count <= 0) return;
  if (count == 1 || workers_.empty()) {
    for (int64_t i = 0; i < count; ++i) task(context, i, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    task_ = task;
    context_ = context;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    num_busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  start_.notify_all();
  take_indices(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return num_busy_ == 0; });
}

}  // namespace pagoda
