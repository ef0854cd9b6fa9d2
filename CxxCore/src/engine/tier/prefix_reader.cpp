// One read at a time: files are read as fast as the disk allows, and only one prefix is in memory besides its copy.
#include "engine/tier/prefix_reader.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "engine/step_status.h"

namespace pagoda::engine {

PrefixReader::PrefixReader(PrefixCopier& copier) : copier_(copier) {
  thread_ = std::thread([this] { run(); });
}

PrefixReader::~PrefixReader() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void PrefixReader::add(Reads& reads) {
  if (reads.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_.reserve(finished_.size() + waiting_.size() + reads.size() + 1);  // run() must not fail
    waiting_.resize(waiting_.size() + reads.size());
    std::ranges::move(reads, waiting_.end() - static_cast<std::ptrdiff_t>(reads.size()));
  }
  reads.clear();
  wake_.notify_one();
}

PrefixReader::Reads PrefixReader::take_finished() {
  Reads taken;
  const std::lock_guard lock(mutex_);
  if (finished_.empty()) return taken;
  taken.reserve(waiting_.size() + 1);  // becomes finished_
  std::swap(taken, finished_);
  return taken;
}

size_t PrefixReader::num_unfinished() const noexcept {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + (is_reading_ ? 1 : 0);
}

void PrefixReader::wait_for_any(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  has_finished_.wait_until(lock, deadline, [this] { return !finished_.empty() || (waiting_.empty() && !is_reading_); });
}

void PrefixReader::run() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return is_closing_ || !waiting_.empty(); });
    if (is_closing_) return;
    std::unique_ptr<PrefixRead> next = std::move(waiting_.front());
    waiting_.pop_front();
    is_reading_ = true;
    lock.unlock();
    read(*next);
    lock.lock();
    is_reading_ = false;
    finished_.push_back(std::move(next));
    has_finished_.notify_all();
  }
}

void PrefixReader::read(PrefixRead& read) noexcept {
  try {
    for (const PrefixRead::Part& part : read.parts) {
      const auto content = part.store->read(part.next, read.target.reader.cache_salt, read.target.reader.tokens);
      read.status = content.is_ok() ? copier_.fill(read.target, **content) : content.status;
      if (!read.status.is_ok()) return;
    }
  } catch (const std::exception&) {
    read.status = out_of_memory();
  }
}

}  // namespace pagoda::engine
