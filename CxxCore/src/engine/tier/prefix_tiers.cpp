// PrefixTiers: turns a stored prefix into blocks and a checkpoint as if a sequence had computed them, and vice
// versa.
#include "engine/tier/prefix_tiers.h"

#include <algorithm>
#include <exception>
#include <new>
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
  return place(sequence, **content, source->wants_state);
}

bool PrefixTiers::place(const Sequence& sequence, const Content& content, bool wants_state) {
  const bool has_state = cache_.index().has_state();
  Sequence reader;
  reader.uses_cache = true;
  reader.cache_salt = sequence.cache_salt;
  reader.tokens.assign(sequence.tokens.begin(), sequence.tokens.begin() + content.head.position);
  reader.block_table.reserve(reader.tokens.size() / static_cast<size_t>(content.head.block_size) + 1);
  if (!cache_.admit_reader(reader)) return false;
  int32_t slot = has_state && wants_state ? cache_.reserve_slot(/*is_awaited=*/true) : -1;
  bool is_good = false;
  try {
    is_good = (slot >= 0 || !has_state || !wants_state) && fill(reader, content, slot).is_ok();
    if (is_good) {
      reader.num_computed_tokens = reader.num_tokens();
      cache_.publish(reader);
      if (slot >= 0) cache_.add_checkpoint(reader, content.head.position, slot);
      slot = -1;
    }
  } catch (const std::bad_alloc&) {
    is_good = false;
  }
  if (slot >= 0) cache_.give_back_slot(slot);
  cache_.retire(reader, is_good && !has_state);
  if (sequence.num_preemptions > 0) cache_.expect_return(sequence);
  return is_good;
}

Status PrefixTiers::fill(Sequence& reader, const Content& content, int32_t slot) {
  const size_t block_bytes = static_cast<size_t>(content.head.block_bytes);
  const size_t first = static_cast<size_t>(content.head.first_block());
  if (static_cast<size_t>(reader.num_published_blocks) < first)
    return make_error(StatusCode::internal, "blocks before those of the prefix are missing");
  for (size_t i = static_cast<size_t>(reader.num_published_blocks); i < reader.block_table.size(); ++i)
    PAGODA_RETURN_IF_ERROR(model_.write_block(
        reader.block_table[i], std::span(content.blocks).subspan((i - first) * block_bytes, block_bytes)));
  return slot >= 0 ? model_.write_slot(slot, content.state) : ok_status();
}

// Null if the device fails.
PrefixStore::ContentPtr PrefixTiers::copy_out(const Sequence& sequence, io::PrefixFileHead head, int32_t slot) {
  const size_t block_bytes = static_cast<size_t>(head.block_bytes);
  const auto content = std::make_shared<Content>();
  content->tokens.assign(sequence.tokens.begin(), sequence.tokens.begin() + head.position);
  content->blocks.resize(static_cast<size_t>(head.num_blocks()) * block_bytes);
  content->state.resize(static_cast<size_t>(head.state_bytes));
  for (int64_t i = 0; i < head.num_blocks(); ++i) {
    const int64_t index = head.first_block() + i;
    const Status status =
        model_.read_block(sequence.block_table[index], static_cast<int32_t>(head.position - index * head.block_size),
                          std::span(content->blocks).subspan(static_cast<size_t>(i) * block_bytes, block_bytes));
    if (!status.is_ok()) return nullptr;
  }
  if (head.state_bytes > 0 && !model_.read_slot(slot, content->state).is_ok()) return nullptr;
  content->head = std::move(head);
  return content;
}

// Stores with the same parent share the copy.
void PrefixTiers::keep(const Sequence& sequence, int32_t position, int32_t slot) {
  const std::span<const int32_t> tokens = std::span(sequence.tokens).first(static_cast<size_t>(position));
  PrefixStore::ContentPtr content;
  for (const auto& store : stores_) {
    auto head = store->plan(sequence.cache_salt, tokens);
    if (!head) continue;
    if (!content || content->head.parent_key != head->parent_key) content = copy_out(sequence, std::move(*head), slot);
    if (!content) return;
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
