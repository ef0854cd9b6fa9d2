// DiskStore: writing behind, and room by giving up what was used longest ago.
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/disk_store.h"

namespace pagoda::engine {

// The entry counts from now on: what follows it may build on it, being written after it.
void DiskStore::write(io::PrefixFileHead head, std::span<const int32_t> tokens, std::vector<std::byte> blocks,
                      std::vector<std::byte> state) {
  std::lock_guard lock(mutex_);
  Job job{std::move(head), {tokens.begin(), tokens.end()}, std::move(blocks), std::move(state)};
  entries_[job.head.key] = {.parent_key = job.head.parent_key,
                            .position = job.head.position,
                            .parent_position = job.head.parent_position,
                            .size_bytes = 0,
                            .last_use = ++last_use_,
                            .is_ours = true};
  queue_bytes_ += job.size_bytes();
  queue_.push_back(std::move(job));
  wake_.notify_one();
}

void DiskStore::run_writer() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return is_closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    is_writing_ = true;
    lock.unlock();
    try {
      write_file(job);
    } catch (const std::exception& error) {
      std::lock_guard relock(mutex_);
      turn_off(error.what());
    }
    lock.lock();
    is_writing_ = false;
    queue_bytes_ -= job.size_bytes();
    if (queue_.empty()) idle_.notify_all();
  }
}

void DiskStore::write_file(const Job& job) {
  const int64_t size = static_cast<int64_t>(job.head.file_bytes());
  {
    std::lock_guard lock(mutex_);
    if (!stats_.is_on || size > config_.max_bytes) return remove(job.head.key);
    make_room(size);
  }
  const std::string path = path_of(job.head.key);
  const Status status = io::write_prefix_file(path, job.head, job.tokens, job.blocks, job.state);
  std::lock_guard lock(mutex_);
  if (!status.is_ok()) {
    remove(job.head.key);
    return turn_off(status.message);
  }
  ++stats_.num_writes;
  stats_.bytes += size;
  entries_[job.head.key].size_bytes = size;
  stats_.num_files = static_cast<int64_t>(entries_.size());
}

void DiskStore::make_room(int64_t size_bytes) {
  while (stats_.bytes + size_bytes > config_.max_bytes) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->second.size_bytes > 0 &&
          (oldest == entries_.end() || entry->second.last_use < oldest->second.last_use))
        oldest = entry;
    if (oldest == entries_.end()) return;
    ++stats_.num_evictions;
    remove(oldest->first);
  }
}

void DiskStore::remove(const Hash128Value& key) noexcept {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  std::error_code error;
  std::filesystem::remove(path_of(key), error);
  stats_.bytes -= found->second.size_bytes;
  entries_.erase(found);
  stats_.num_files = static_cast<int64_t>(entries_.size());
}

void DiskStore::turn_off(const std::string& reason) {
  stats_.is_on = false;
  if (stats_.off_reason.empty()) stats_.off_reason = reason;
}

void DiskStore::flush() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return queue_.empty() && !is_writing_; });
}

}  // namespace pagoda::engine
