// CallerPrefixes: limits what is pinned, so that requests keep room.
#include "engine/core/caller_prefixes.h"

#include <utility>

#include "base/concat.h"

namespace pagoda::engine {

constexpr int64_t kPinnedPart = 2;  // at most one in so many blocks and checkpoints is pinned

int32_t CallerPrefixes::find(std::string_view salt, std::span<const int32_t> tokens) const noexcept {
  return cache_.index().find(salt, tokens, static_cast<int32_t>(tokens.size())).num_tokens;
}

Result<PrefixStore::ContentPtr> CallerPrefixes::copy(const std::string& salt, std::span<const int32_t> tokens,
                                                     io::PrefixFileHead head) {
  PAGODA_RETURN_IF_ERROR(refusal_);
  const int32_t count = static_cast<int32_t>(tokens.size());
  const cache::PrefixIndex::Match match = cache_.index().find(salt, tokens, count);
  if (match.num_tokens < count)
    return make_error(StatusCode::resource_exhausted, "the prefix was evicted while it was being saved");
  std::vector<int32_t> blocks;
  cache_.index().chain_to(match.block, blocks);
  return copier_.copy_out(tokens, blocks, std::move(head), match.slot);
}

Status CallerPrefixes::place(const std::string& salt, const PrefixStore::Content& content, bool wants_state) {
  PAGODA_RETURN_IF_ERROR(refusal_);
  return copier_.place(salt, content, wants_state);
}

PrefixPin CallerPrefixes::pin(const std::string& salt, std::span<const int32_t> tokens) {
  PrefixPin pin;
  pin.status = refusal_;
  if (!pin.status.is_ok()) return pin;
  const cache::PrefixIndex::Match match = cache_.index().find(salt, tokens, static_cast<int32_t>(tokens.size()));
  const int64_t num_blocks = num_pinned_blocks_ + blocks_.blocks_for(match.num_tokens);
  const int64_t max_blocks = blocks_.num_blocks() / kPinnedPart;
  const int64_t max_states = cache_.index().max_checkpoints() / kPinnedPart;
  const int64_t num_states = has_state_ ? static_cast<int64_t>(pins_.size()) + 1 : 0;
  if (match.num_tokens == 0) {
    pin.status = make_error(StatusCode::not_found, "no prefix of these tokens is cached");
  } else if (num_blocks > max_blocks || num_states > max_states) {
    pin.status = make_error(StatusCode::resource_exhausted,
                            concat("pinned prefixes would take ", num_blocks, " blocks and ", num_states,
                                   " states; at most ", max_blocks, " and ", max_states, " can be pinned"));
  } else {
    auto [entry, is_new] = pins_.emplace(last_pin_ + 1, cache::PrefixCache::Pin());
    entry->second = cache_.pin(match);
    num_pinned_blocks_ += static_cast<int64_t>(entry->second.blocks.size());
    pin.pin_id = ++last_pin_;
    pin.num_tokens = match.num_tokens;
  }
  return pin;
}

void CallerPrefixes::unpin(uint64_t pin_id) noexcept {
  const auto found = pins_.find(pin_id);
  if (found == pins_.end()) return;
  num_pinned_blocks_ -= static_cast<int64_t>(found->second.blocks.size());
  cache_.unpin(found->second);
  pins_.erase(found);
}

bool CallerPrefixes::unpin_oldest() noexcept {
  if (pins_.empty()) return false;
  unpin(pins_.begin()->first);
  return true;
}

}  // namespace pagoda::engine
