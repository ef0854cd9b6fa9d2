// CopyQueue: copies between the caches and the stores, which a thread of its own makes one after another beside the
// engine's steps. Thread rule: one thread (the engine's) calls it.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pagoda::engine {

enum class AtEnd { drop, finish };  // what the destructor does with copies that have not begun

template <class Copy>
class CopyQueue {
 public:
  using Copies = std::vector<std::unique_ptr<Copy>>;

  // `make` is called on the queue's thread, and must not throw.
  CopyQueue(std::function<void(Copy&)> make, AtEnd at_end) : make_(std::move(make)), at_end_(at_end) {
    thread_ = std::thread([this] { run(); });
  }
  ~CopyQueue() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  CopyQueue(const CopyQueue&) = delete;  // its thread points to it
  CopyQueue& operator=(const CopyQueue&) = delete;

  // Takes all of them, or none if it fails.
  void add(Copies& copies) {
    if (copies.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      finished_.reserve(finished_.size() + waiting_.size() + copies.size() + 1);  // run() must not fail
      waiting_.resize(waiting_.size() + copies.size());
      std::ranges::move(copies, waiting_.end() - static_cast<std::ptrdiff_t>(copies.size()));
    }
    copies.clear();
    wake_.notify_one();
  }

  Copies take_finished() {
    Copies taken;
    const std::lock_guard lock(mutex_);
    if (finished_.empty()) return taken;
    taken.reserve(waiting_.size() + 1);  // becomes finished_
    std::swap(taken, finished_);
    return taken;
  }

  // Until a copy has finished, or the deadline; returns at once if there is none.
  void wait_for_any(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    has_finished_.wait_until(lock, deadline, [this] { return !finished_.empty() || is_idle(); });
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    has_finished_.wait(lock, [this] { return is_idle(); });
  }

 private:
  bool is_idle() const noexcept { return waiting_.empty() && !is_copying_; }

  void run() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return is_closing_ || !waiting_.empty(); });
      if (is_closing_ && (waiting_.empty() || at_end_ == AtEnd::drop)) return;
      std::unique_ptr<Copy> next = std::move(waiting_.front());
      waiting_.pop_front();
      is_copying_ = true;
      lock.unlock();
      make_(*next);
      lock.lock();
      is_copying_ = false;
      finished_.push_back(std::move(next));
      has_finished_.notify_all();
    }
  }

  const std::function<void(Copy&)> make_;
  const AtEnd at_end_;
  std::mutex mutex_;  // guards the members below, except the thread
  std::condition_variable wake_, has_finished_;
  std::deque<std::unique_ptr<Copy>> waiting_;
  Copies finished_;
  bool is_copying_ = false, is_closing_ = false;
  std::thread thread_;
};

}  // namespace pagoda::engine
