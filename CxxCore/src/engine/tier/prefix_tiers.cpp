// PrefixTiers: which stored prefix to read for a sequence, and which parts of a sequence to store.
#include "engine/tier/prefix_tiers.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace pagoda::engine {

using request::Sequence;

// The first store with blocks on the path to the last state in any store, or with that state.
std::optional<PrefixTiers::Source> PrefixTiers::find_source(const Sequence& sequence,
                                                            const cache::PrefixIndex::Match& match) {
  const int32_t block_size = stores_.front()->layout().block_size;
  const int32_t num_blocks = match.num_matched / block_size;
  std::vector<Source> found;
  for (const auto& store : stores_)
    if (const auto next = store->find_next(sequence.cache_salt, sequence.tokens, match.num_tokens, num_blocks))
      found.push_back({store.get(), *next});
  int32_t last_position = 0;
  for (const Source& source : found) last_position = std::max(last_position, source.next.last_position);
  for (Source& source : found) {
    source.wants_state = source.next.is_last && source.next.position == last_position;
    if (source.wants_state || source.next.position / block_size > num_blocks) return source;
  }
  return std::nullopt;
}

bool PrefixTiers::read_for(const Sequence& sequence) {
  if (!sequence.uses_cache) return false;
  const cache::PrefixIndex::Match match = cache_.find(sequence);
  const int64_t progress = int64_t{match.num_matched} + match.num_tokens;
  if (reading_id_ == sequence.id && progress <= last_progress_) return false;
  const std::optional<Source> source = find_source(sequence, match);
  if (!source) return false;
  const auto content = source->store->read(source->next, sequence.cache_salt, sequence.tokens);
  if (!content.is_ok()) return true;  // it was evicted; there may be another
  reading_id_ = sequence.id;
  last_progress_ = progress;
  const bool is_placed = copier_.place(sequence.cache_salt, **content, source->wants_state).is_ok();
  if (is_placed && sequence.num_preemptions > 0) cache_.expect_return(sequence);
  return is_placed;
}

// Stores with the same parent share the copy.
void PrefixTiers::keep(const Sequence& sequence, int32_t position, int32_t slot) {
  const std::span<const int32_t> tokens = std::span(sequence.tokens).first(static_cast<size_t>(position));
  PrefixStore::ContentPtr content;
  for (const auto& store : stores_) {
    auto head = store->plan(sequence.cache_salt, tokens);
    if (!head) continue;
    if (!content || content->head.parent_key != head->parent_key) {
      auto copy = copier_.copy_out(sequence.tokens, sequence.block_table, std::move(*head), slot);
      if (!copy.is_ok()) return;  // the device failed
      content = std::move(*copy);
    }
    store->write(content);
  }
}

// Without a state, a prefix may start at any block: parts that others may start with are stored separately, each once.
void PrefixTiers::write(const Sequence& sequence, int32_t position, int32_t slot) noexcept {
  constexpr int32_t kGrid = 256, kMaxParts = 32;
  const int32_t block_size = stores_.front()->layout().block_size;
  try {
    if (cache_.index().has_state()) return keep(sequence, position, slot);
    const int32_t prompt_end = (sequence.num_prompt_tokens - 1) / block_size * block_size;
    int32_t step = kGrid;
    while (position / step > kMaxParts) step *= 2;
    for (int32_t end = 0; end < position;) {
      int32_t next = std::min(end / step * step + step, position);
      if (end < prompt_end) next = std::min(next, prompt_end);
      keep(sequence, end = next, slot);
    }
  } catch (const std::exception&) {  // no memory
  }
}

}  // namespace pagoda::engine
