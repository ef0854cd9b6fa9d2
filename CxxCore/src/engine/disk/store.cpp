// DiskStore: lookup by the hash of all tokens so far, and reading with every check.
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

constexpr int64_t kMaxQueueBytes = 256 << 20;  // beyond, new entries are dropped
constexpr size_t kMinTokens = 32;              // shorter prompts are computed as fast as they are read

Hash128Value hash_of(const std::string& salt) {
  Hash128 hash;
  hash.add(std::string_view(salt));
  return hash.value();
}

// Calls body(position, key) with the key after each token.
template <class Body>
void for_each_key(const std::string& fingerprint, const std::string& salt, std::span<const int32_t> tokens,
                  Body&& body) {
  Hash128 hash;
  hash.add(std::string_view(fingerprint));
  hash.add(std::string_view(salt));
  for (size_t i = 0; i < tokens.size(); ++i) {
    hash.add(static_cast<uint64_t>(tokens[i]));
    body(static_cast<int32_t>(i) + 1, hash.value());
  }
}

}  // namespace

DiskStore::DiskStore(DiskStoreConfig config) : config_(std::move(config)) {
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

bool DiskStore::is_ours(const io::PrefixFileHead& head) const noexcept {
  return head.fingerprint == config_.fingerprint && head.block_size == config_.block_size &&
         head.block_bytes == config_.block_bytes && head.state_bytes == config_.state_bytes;
}

std::optional<DiskStore::Next> DiskStore::find_next(const std::string& salt, std::span<const int32_t> tokens,
                                                    int32_t num_known, int64_t num_blocks) {
  look_again();
  std::lock_guard lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  auto last = entries_.end();
  for_each_key(config_.fingerprint, salt, tokens, [&](int32_t position, const Hash128Value& key) {
    if (position <= num_known || position >= static_cast<int32_t>(tokens.size())) return;
    const auto found = entries_.find(key);
    if (found != entries_.end() && is_known(found->second, position)) last = found;
  });
  if (last == entries_.end()) return std::nullopt;
  // Back to the first file whose blocks continue those that are there. Parents are used after their children, so that
  // they are removed after them.
  auto next = last;
  for (;;) {
    next->second.last_use = ++last_use_;
    if (next->second.parent_position / config_.block_size <= num_blocks) break;
    const auto parent = entries_.find(next->second.parent_key);
    if (parent == entries_.end() || !is_known(parent->second, next->second.parent_position)) return std::nullopt;
    next = parent;
  }
  return Next{next->first, next->second.position, next == last};
}

std::vector<PrefixFileInfo> DiskStore::find_chain(const std::string& salt, std::span<const int32_t> tokens) const {
  std::lock_guard lock(mutex_);
  std::vector<PrefixFileInfo> chain;
  if (entries_.empty()) return chain;
  // Each readable file whose ancestors are readable too continues a chain; the last such file ends the longest one.
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

// With mutex_.
std::optional<DiskStore::Content> DiskStore::read_queued(const Next& next, const std::string& salt,
                                                         std::span<const int32_t> tokens) const {
  const auto job = std::ranges::find(queue_, next.key, [](const Job& queued) { return queued.head.key; });
  if (job == queue_.end() || job->head.position != next.position || job->head.salt != hash_of(salt) ||
      !std::ranges::equal(job->tokens, tokens.first(static_cast<size_t>(next.position))))
    return std::nullopt;
  return Content{job->head, job->blocks, next.is_last ? job->state : std::vector<std::byte>()};
}

Result<DiskStore::Content> DiskStore::read(const Next& next, const std::string& salt, std::span<const int32_t> tokens) {
  {
    std::lock_guard lock(mutex_);
    if (std::optional<Content> queued = read_queued(next, salt, tokens)) return std::move(*queued);
  }
  Result<Content> content = read_file(next, salt, tokens);
  std::lock_guard lock(mutex_);
  if (content.is_ok()) {
    ++stats_.num_reads;
    std::error_code error;  // the next run sees when it was used last
    fs::last_write_time(path_of(next.key), fs::file_time_type::clock::now(), error);
  } else if (content.status.code == StatusCode::not_found) {
    forget(next.key);  // another process made room
  } else {
    ++stats_.num_bad_files;
    remove(next.key);
  }
  return content;
}

Result<DiskStore::Content> DiskStore::read_file(const Next& next, const std::string& salt,
                                                std::span<const int32_t> tokens) const {
  PAGODA_ASSIGN_OR_RETURN(auto file, io::PrefixFile::open(path_of(next.key)));
  const io::PrefixFileHead& head = file->head();
  if (!is_ours(head) || head.key != next.key || head.position != next.position || head.salt != hash_of(salt))
    return make_error(StatusCode::bad_file, "a prefix file is another one than its name says");
  PAGODA_ASSIGN_OR_RETURN(const auto own_tokens, file->read_tokens());
  if (!std::ranges::equal(own_tokens, tokens.first(static_cast<size_t>(head.position))))
    return make_error(StatusCode::bad_file, "a prefix file is of other tokens than its name says");
  Content content{head, {}, {}};
  PAGODA_ASSIGN_OR_RETURN(content.blocks, file->read_blocks());
  if (!next.is_last) return content;
  PAGODA_ASSIGN_OR_RETURN(content.state, file->read_state());
  return content;
}

std::optional<io::PrefixFileHead> DiskStore::plan(const std::string& salt, std::span<const int32_t> tokens) {
  if (tokens.size() < kMinTokens) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (!may_write()) return std::nullopt;
  io::PrefixFileHead head;
  for_each_key(config_.fingerprint, salt, tokens, [&](int32_t position, const Hash128Value& key) {
    head.key = key;
    if (position == static_cast<int32_t>(tokens.size())) return;
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.is_ours || found->second.position != position) return;
    head.parent_key = key;
    head.parent_position = position;
  });
  if (entries_.contains(head.key)) return std::nullopt;
  head.fingerprint = config_.fingerprint;
  head.salt = hash_of(salt);
  head.position = static_cast<int32_t>(tokens.size());
  head.block_size = config_.block_size;
  head.block_bytes = config_.block_bytes;
  head.state_bytes = config_.state_bytes;
  const int64_t size = static_cast<int64_t>(head.file_bytes());
  if (queue_bytes_ + size <= kMaxQueueBytes || queue_.size() <= size_t{is_writing_}) return head;
  ++stats_.num_dropped;
  return std::nullopt;
}

DiskStats DiskStore::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace pagoda::engine
