// PrefixStore: lookup by the hash of all tokens so far, and the chains that prefixes form.
#include "engine/tier/prefix_store.h"

#include <algorithm>
#include <string_view>

namespace pagoda::engine {

constexpr size_t kMinTokens = 32;  // shorter prompts are computed as fast as they are read

Hash128Value hash_of_salt(const std::string& salt) {
  Hash128 hash;
  hash.add(std::string_view(salt));
  return hash.value();
}

bool PrefixStore::is_ours(const io::PrefixFileHead& head) const noexcept {
  return head.fingerprint == layout_.fingerprint && head.block_size == layout_.block_size &&
         head.block_bytes == layout_.block_bytes && head.state_bytes == layout_.state_bytes;
}

PrefixStore::Entry PrefixStore::read_entry(const io::PrefixFileHead& head) const noexcept {
  return {.parent_key = head.parent_key,
          .position = head.position,
          .parent_position = head.parent_position,
          .is_ours = is_ours(head),
          .content = nullptr};
}

Status PrefixStore::check(const io::PrefixFileHead& head, std::span<const int32_t> own_tokens, const Next& next,
                          const std::string& salt, std::span<const int32_t> tokens) const {
  if (!is_ours(head) || head.key != next.key || head.position != next.position || head.salt != hash_of_salt(salt))
    return make_error(StatusCode::bad_file, "a prefix is another one than its name says");
  if (!std::ranges::equal(own_tokens, tokens.first(static_cast<size_t>(head.position))))
    return make_error(StatusCode::bad_file, "a prefix is of other tokens than its name says");
  return ok_status();
}

PrefixStore::Entries::iterator PrefixStore::parent_of(const Entry& entry) noexcept {
  if (entry.parent_position == 0) return entries_.end();
  const auto parent = entries_.find(entry.parent_key);
  return parent != entries_.end() && is_usable(parent->second, entry.parent_position) ? parent : entries_.end();
}

// Parents are marked as used after their children, so that they are evicted after them.
void PrefixStore::use(Entries::iterator entry) noexcept {
  for (; entry != entries_.end(); entry = parent_of(entry->second)) entry->second.last_use = ++last_use_;
}

// The prefixes of `tokens` whose blocks follow those in the caches or those of another such prefix, by position.
std::vector<PrefixStore::Entries::iterator> PrefixStore::find_whole(const std::string& salt,
                                                                    std::span<const int32_t> tokens,
                                                                    int64_t num_blocks) {
  std::vector<Entries::iterator> whole;
  for_each_key(layout_.fingerprint, salt, tokens, [&](int32_t position, const Hash128Value& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !is_usable(found->second, position)) return;
    const auto parent = parent_of(found->second);
    if (found->second.parent_position / layout_.block_size <= num_blocks ||
        std::find(whole.rbegin(), whole.rend(), parent) != whole.rend())
      whole.push_back(found);
  });
  return whole;
}

std::optional<PrefixStore::Next> PrefixStore::find_next(const std::string& salt, std::span<const int32_t> tokens,
                                                        int32_t num_cached, int64_t num_blocks) {
  look_again();
  std::lock_guard lock(mutex_);
  if (entries_.empty() || tokens.empty()) return std::nullopt;
  // The last token is always computed.
  const auto whole = find_whole(salt, tokens.first(tokens.size() - 1), num_blocks);
  if (whole.empty() || whole.back()->second.position <= num_cached) return std::nullopt;
  const auto last = whole.back();
  use(last);
  auto next = last;  // back to the first one whose blocks follow the blocks in the caches
  while (next->second.parent_position / layout_.block_size > num_blocks) next = parent_of(next->second);
  return Next{next->first, next->second.position, last->second.position, next == last};
}

std::optional<io::PrefixFileHead> PrefixStore::plan(const std::string& salt, std::span<const int32_t> tokens) {
  if (tokens.size() < kMinTokens) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (!may_write()) return std::nullopt;
  io::PrefixFileHead head;
  for_each_key(layout_.fingerprint, salt, tokens, [&](int32_t position, const Hash128Value& key) {
    head.key = key;
    if (position == static_cast<int32_t>(tokens.size())) return;
    const auto found = entries_.find(key);
    if (found == entries_.end() || !is_usable(found->second, position)) return;
    head.parent_key = key;
    head.parent_position = position;
  });
  if (entries_.contains(head.key)) return std::nullopt;
  head.fingerprint = layout_.fingerprint;
  head.salt = hash_of_salt(salt);
  head.position = static_cast<int32_t>(tokens.size());
  head.block_size = layout_.block_size;
  head.block_bytes = layout_.block_bytes;
  head.state_bytes = layout_.state_bytes;
  if (!make_room(head)) return std::nullopt;
  return head;
}

}  // namespace pagoda::engine
