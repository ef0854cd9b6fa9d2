// DiskStore: writing in the background.
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "engine/disk/store.h"

namespace pagoda::engine {

// From now on the entry counts as present: entries that depend on it are written after it.
void DiskStore::write(ContentPtr content) {
  std::lock_guard lock(mutex_);
  const Content& added = *content;
  queue_.push_back(std::move(content));
  try {
    Entry& entry = entries_[added.head.key];
    entry = read_entry(added.head);
    entry.last_use = ++last_use_;
  } catch (...) {
    queue_.pop_back();
    throw;
  }
  queue_bytes_ += queued_bytes(added);
  wake_.notify_one();
}

void DiskStore::run_writer() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return is_closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const ContentPtr content = queue_.front();  // stays in the queue, where it can be read, until its file is written
    is_writing_ = true;
    lock.unlock();
    try {
      write_file(*content);
    } catch (const std::exception& error) {
      std::lock_guard relock(mutex_);
      forget(content->head.key);
      pause(error.what());
    }
    lock.lock();
    is_writing_ = false;
    queue_bytes_ -= queued_bytes(*content);
    queue_.pop_front();
    if (queue_.empty()) idle_.notify_all();
  }
}

bool DiskStore::may_write() const noexcept {
  return writer_.joinable() && (stats_.is_on || std::chrono::steady_clock::now() >= retry_at_);
}

void DiskStore::write_file(const Content& content) {
  const Hash128Value& key = content.head.key;
  const int64_t size = static_cast<int64_t>(content.head.file_bytes());
  const std::lock_guard folder(folder_mutex_);
  refresh();
  {
    std::lock_guard lock(mutex_);
    const auto entry = entries_.find(key);
    if (entry != entries_.end() && entry->second.size_bytes > 0) return;  // another process has written the same file
    if (!may_write() || size > config_.max_bytes) return forget(key);
    make_room(size);
  }
  const Status status =
      io::write_prefix_file(path_of(key), content.head, content.tokens, content.blocks, content.state);
  {
    std::lock_guard lock(mutex_);
    if (!status.is_ok()) forget(key);
    if (status.code == StatusCode::resource_exhausted) return;  // another process is writing the same file
    if (!status.is_ok()) return pause(status.message);
    stats_.is_on = true;
    stats_.off_reason.clear();
    ++stats_.num_writes;
    entries_[key].size_bytes = size;
  }
  refresh();
  std::lock_guard lock(mutex_);
  make_room(0);  // another process may have written files at the same time
}

// The reason is shown to clients and must not contain paths.
void DiskStore::pause(const std::string& reason) {
  using std::chrono::steady_clock;
  stats_.is_on = false;
  ++stats_.num_failures;
  retry_at_ = steady_clock::now() +
              std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(config_.retry_seconds));
  const size_t end = reason.starts_with(config_.folder) ? reason.find(": ") : std::string::npos;
  stats_.off_reason = end == std::string::npos ? reason : reason.substr(end + 2);
}

void DiskStore::flush() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return queue_.empty() && !is_writing_; });
}

}  // namespace pagoda::engine
