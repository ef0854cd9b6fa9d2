// DiskStore: reading with all checks, and the chains of files that match a prompt.
#include "engine/disk/store.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/assign_or_return.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxQueueBytes = 256 << 20;  // above this, new entries are dropped

}  // namespace

DiskStore::DiskStore(DiskStoreConfig config)
    : PrefixStore({.fingerprint = config.fingerprint,
                   .block_size = config.block_size,
                   .block_bytes = config.block_bytes,
                   .state_bytes = config.state_bytes}),
      config_(std::move(config)) {
  stats_.is_on = true;
  stats_.max_bytes = config_.max_bytes;
  try {
    if (open_folder()) writer_ = std::thread([this] { run_writer(); });
  } catch (const std::exception& error) {
    std::lock_guard lock(mutex_);
    pause(error.what());
  }
}

DiskStore::~DiskStore() {
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  wake_.notify_all();
  if (writer_.joinable()) writer_.join();
}

std::vector<PrefixFileInfo> DiskStore::find_chain(const std::string& salt, std::span<const int32_t> tokens) const {
  std::lock_guard lock(mutex_);
  std::vector<PrefixFileInfo> chain;
  if (entries_.empty()) return chain;
  // Each readable file whose ancestors are readable too extends a chain; the last such file ends the longest one.
  std::set<Hash128Value> whole;
  auto last = entries_.end();
  for_each_key(config_.fingerprint, salt, tokens, [&](int32_t position, const Hash128Value& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !is_readable(found->second, position)) return;
    const Entry& entry = found->second;
    if (entry.parent_position > 0 && !whole.contains(entry.parent_key)) return;
    whole.insert(key);
    last = found;
  });
  for (; last != entries_.end(); last = entries_.find(last->second.parent_key)) {
    const Entry& entry = last->second;
    chain.push_back(
        {fs::path(path_of(last->first)).filename().string(), entry.position, entry.parent_position, entry.size_bytes});
    if (entry.parent_position == 0) break;
  }
  std::ranges::reverse(chain);
  return chain;
}

// Requires mutex_.
PrefixStore::ContentPtr DiskStore::find_queued(const Next& next, const std::string& salt,
                                               std::span<const int32_t> tokens) const {
  const auto queued = std::ranges::find(queue_, next.key, [](const ContentPtr& content) { return content->head.key; });
  if (queued == queue_.end() || !check((*queued)->head, (*queued)->tokens, next, salt, tokens).is_ok()) return nullptr;
  return *queued;
}

Result<PrefixStore::ContentPtr> DiskStore::read(const Next& next, const std::string& salt,
                                                std::span<const int32_t> tokens) {
  {
    std::lock_guard lock(mutex_);
    if (ContentPtr queued = find_queued(next, salt, tokens)) return queued;
  }
  Result<ContentPtr> content = read_file(next, salt, tokens);
  std::lock_guard lock(mutex_);
  if (content.is_ok()) {
    ++stats_.num_reads;
    std::error_code error;  // ignored; the new time tells later runs when the file was last used
    fs::last_write_time(path_of(next.key), fs::file_time_type::clock::now(), error);
  } else if (content.status.code == StatusCode::not_found) {
    forget(next.key);  // another process evicted it
  } else {
    ++stats_.num_bad_files;
    remove(next.key);
  }
  return content;
}

Result<PrefixStore::ContentPtr> DiskStore::read_file(const Next& next, const std::string& salt,
                                                     std::span<const int32_t> tokens) const {
  PAGODA_ASSIGN_OR_RETURN(auto file, io::PrefixFile::open(path_of(next.key)));
  auto content = std::make_shared<Content>();
  content->head = file->head();
  PAGODA_ASSIGN_OR_RETURN(content->tokens, file->read_tokens());
  PAGODA_RETURN_IF_ERROR(check(content->head, content->tokens, next, salt, tokens));
  PAGODA_ASSIGN_OR_RETURN(content->blocks, file->read_blocks());
  if (next.is_last) {
    PAGODA_ASSIGN_OR_RETURN(content->state, file->read_state());
  }
  return ContentPtr(std::move(content));
}

bool DiskStore::make_room(const io::PrefixFileHead& head) {
  const int64_t size = static_cast<int64_t>(head.file_bytes());
  if (queue_bytes_ + size <= kMaxQueueBytes || queue_.size() <= size_t{is_writing_}) return true;
  ++stats_.num_dropped;
  return false;
}

DiskStats DiskStore::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace pagoda::engine
