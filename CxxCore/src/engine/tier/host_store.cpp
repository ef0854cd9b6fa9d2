// HostStore: prefixes are shared with their readers, never copied.
#include "engine/tier/host_store.h"

#include <utility>

namespace pagoda::engine {

HostStore::HostStore(PrefixLayout layout, int64_t max_bytes) : PrefixStore(std::move(layout)) {
  stats_.max_bytes = max_bytes;
}

// The size of the file of the same prefix, which has the same content.
static int64_t size_of(const io::PrefixFileHead& head) { return static_cast<int64_t>(head.file_bytes()); }

Result<PrefixStore::ContentPtr> HostStore::read(const Next& next, const std::string& salt,
                                                std::span<const int32_t> tokens) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(next.key);
  if (found == entries_.end()) return make_error(StatusCode::not_found, "a prefix was evicted");
  ContentPtr content = found->second.content;
  if (Status status = check(content->head, content->tokens, next, salt, tokens); !status.is_ok()) {
    std::erase_if(order_, [&](const auto& entry) { return entry.second == next.key; });
    remove(found);
    return status;
  }
  ++stats_.num_hits;
  return content;
}

void HostStore::write(ContentPtr content) {
  std::lock_guard lock(mutex_);
  const Hash128Value key = content->head.key;
  const auto [entry, is_new] = entries_.emplace(key, read_entry(content->head));
  if (!is_new) return;
  try {
    order_.emplace(last_use_ + 1, key);  // the value that use() assigns
  } catch (...) {
    entries_.erase(entry);
    throw;
  }
  entry->second.size_bytes = size_of(content->head);
  entry->second.content = std::move(content);
  use(entry);
  stats_.bytes += entry->second.size_bytes;
  ++stats_.num_prefixes;
  ++stats_.num_writes;
}

// A prefix without its parents is useless: the parents are marked as used first, and it is not kept if there is no room
// in addition to them.
bool HostStore::make_room(const io::PrefixFileHead& head) {
  const int64_t size_bytes = size_of(head);
  int64_t chain_bytes = size_bytes;
  if (head.parent_position > 0) {
    const auto parent = entries_.find(head.parent_key);
    use(parent);
    for (auto entry = parent; entry != entries_.end(); entry = parent_of(entry->second))
      chain_bytes += entry->second.size_bytes;
  }
  if (chain_bytes > stats_.max_bytes) {
    ++stats_.num_dropped;
    return false;
  }
  while (stats_.bytes + size_bytes > stats_.max_bytes) evict_oldest();
  return true;
}

void HostStore::evict_oldest() noexcept {
  for (;;) {
    const auto first = order_.begin();
    const auto entry = entries_.find(first->second);
    if (entry->second.last_use == first->first) {
      ++stats_.num_evictions;
      order_.erase(first);
      return remove(entry);
    }
    auto moved = order_.extract(first);
    moved.key() = entry->second.last_use;
    order_.insert(std::move(moved));
  }
}

void HostStore::remove(Entries::iterator entry) noexcept {
  stats_.bytes -= entry->second.size_bytes;
  --stats_.num_prefixes;
  entries_.erase(entry);
}

HostCacheStats HostStore::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace pagoda::engine
