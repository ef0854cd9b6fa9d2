// PrefixTiers: which stored prefix to read for a sequence, and which parts of a sequence to store.
#include "engine/tier/prefix_tiers.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace pagoda::engine {

using request::Sequence;

// The first store with blocks on the path to the last state in any store, or with that state.
std::optional<PrefixTiers::Source> PrefixTiers::find_source(const Sequence& sequence, int32_t num_cached,
                                                            int32_t num_blocks) {
  std::vector<Source> found;
  for (const auto& store : stores_)
    if (const auto next = store->find_next(sequence.cache_salt, sequence.tokens, num_cached, num_blocks))
      found.push_back({store, *next});
  int32_t last_position = 0;
  for (const Source& source : found) last_position = std::max(last_position, source.next.last_position);
  for (Source& source : found) {
    source.wants_state = source.next.is_last && source.next.position == last_position;
    if (source.wants_state || source.next.position / cache_.block_size() > num_blocks) return source;
  }
  return std::nullopt;
}

// All prefixes up to the last one worth reading; null if there is none.
std::unique_ptr<PrefixRead> PrefixTiers::plan_read(const Sequence& sequence) {
  auto read = std::make_unique<PrefixRead>();
  read->sequence_id = sequence.id;
  const cache::PrefixIndex::Match match = cache_.find(sequence);
  int32_t num_blocks = match.num_matched / cache_.block_size();
  bool wants_state = false;
  while (const auto source = find_source(sequence, match.num_tokens, num_blocks)) {
    read->parts.push_back({source->store, source->next});
    wants_state = source->wants_state;
    if (wants_state) break;
    num_blocks = source->next.position / cache_.block_size();
  }
  if (read->parts.empty()) return nullptr;
  const auto end = static_cast<size_t>(read->parts.back().next.position);
  read->status = copier_.reserve(sequence.cache_salt, std::span(sequence.tokens).first(end), wants_state, read->target);
  return read;
}

bool PrefixTiers::is_read_by_another(const PrefixRead& read) const noexcept {
  return std::ranges::any_of(reading_, [&](const auto& other) {
    return std::ranges::any_of(read.parts, [&](const PrefixRead::Part& part) {
      return std::ranges::find(other.second, part.next.key) != other.second.end();
    });
  });
}

// Returns what is to be read for the sequence, or null: if it needs what is being read for another, or finds no space
// beside it, it tries again after the next end.
std::unique_ptr<PrefixRead> PrefixTiers::begin_read(Sequence& sequence) {
  std::unique_ptr<PrefixRead> read = sequence.uses_cache ? plan_read(sequence) : nullptr;
  const bool has_space = read && read->status.is_ok();
  if (has_space && !is_read_by_another(*read)) {
    try {
      std::vector<Hash128Value>& keys = reading_[sequence.id];
      for (const PrefixRead::Part& part : read->parts) keys.push_back(part.next.key);
    } catch (...) {
      give_back(*read);
      throw;
    }
    return read;
  }
  if (has_space) copier_.publish(read->target);  // nothing was filled
  if (read && !reading_.empty()) followers_.insert(sequence.id);
  else sequence.is_restoring = false;
  return nullptr;
}

void PrefixTiers::give_back(PrefixRead& read) noexcept {
  copier_.publish(read.target);
  reading_.erase(read.sequence_id);
}

void PrefixTiers::begin_reads(std::span<Sequence* const> sequences) {
  PrefixReader::Reads begun;
  begun.reserve(sequences.size());
  try {
    for (Sequence* sequence : sequences)
      if (!reading_.contains(sequence->id) && !followers_.contains(sequence->id))
        if (auto read = begin_read(*sequence)) begun.push_back(std::move(read));
    reader_.add(begun);
  } catch (const std::exception&) {  // no memory: they are computed
    for (const std::unique_ptr<PrefixRead>& read : begun) give_back(*read);
    for (Sequence* sequence : sequences) sequence->is_restoring = reading_.contains(sequence->id);
  }
}

bool PrefixTiers::read_now(Sequence& sequence) {
  bool is_placed = false;
  for (bool is_lost = true; is_lost && !is_placed;) {
    const std::unique_ptr<PrefixRead> read = sequence.uses_cache ? plan_read(sequence) : nullptr;
    if (!read || !read->status.is_ok()) break;
    reader_.read(*read);
    is_placed = copier_.publish(read->target) && read->status.is_ok();
    is_lost = read->status.code == StatusCode::not_found || read->status.code == StatusCode::bad_file;
  }
  sequence.is_restoring = false;
  return is_placed;
}

const std::vector<PrefixTiers::Ended>& PrefixTiers::end_reads() {
  ended_.clear();
  ended_.reserve(reading_.size());
  for (const std::unique_ptr<PrefixRead>& read : reader_.take_finished()) {
    reading_.erase(read->sequence_id);
    followers_.clear();
    const bool is_placed = copier_.publish(read->target) && read->status.is_ok();
    // A store removes what it could not read.
    const bool is_lost = read->status.code == StatusCode::not_found || read->status.code == StatusCode::bad_file;
    ended_.push_back({read->sequence_id, is_placed, is_lost});
  }
  return ended_;
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
  const int32_t block_size = cache_.block_size();
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
