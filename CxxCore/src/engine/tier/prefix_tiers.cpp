// PrefixTiers: which stored prefix to read for a sequence, and which parts of a sequence to store.
#include "engine/tier/prefix_tiers.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace pagoda::engine {

using request::Sequence;

PrefixTiers::PrefixTiers(PrefixCopier& copier, cache::PrefixCache& cache,
                         std::vector<std::shared_ptr<PrefixStore>> stores)
    : copier_(copier),
      cache_(cache),
      stores_(std::move(stores)),
      reader_([this](PrefixRead& read) { read_prefix(copier_, read); }, AtEnd::drop),
      writer_([this](PrefixWrite& write) { write_prefix(copier_, stores_, cache_.index().has_state(), write); },
              AtEnd::finish) {}

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

// Returns what is to be read for the sequence, or null: if it needs what is being read for another or written, or finds
// no space beside it, it tries again after the next end.
std::unique_ptr<PrefixRead> PrefixTiers::begin_read(Sequence& sequence) {
  if (writing_.contains(sequence.id)) return followers_.insert(sequence.id), nullptr;
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
  if (read && is_copying()) followers_.insert(sequence.id);
  else sequence.is_restoring = false;
  return nullptr;
}

void PrefixTiers::give_back(PrefixRead& read) noexcept {
  copier_.publish(read.target);
  reading_.erase(read.sequence_id);
}

void PrefixTiers::begin_reads(std::span<Sequence* const> sequences) {
  CopyQueue<PrefixRead>::Copies begun;
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

void PrefixTiers::write(const Sequence& sequence, int32_t position) noexcept {
  cache::PrefixCache::Pin held;
  try {
    held = cache_.hold(sequence, position);
    if (!held.blocks.empty()) begin_write(sequence, position, false, held);
  } catch (const std::exception&) {  // no memory
    cache_.unpin(held);
  }
}

void PrefixTiers::write_end(Sequence& sequence, bool becomes_checkpoint) noexcept {
  cache::PrefixCache::Pin held;
  try {
    held = cache_.hold_end(sequence, becomes_checkpoint);
    if (!held.blocks.empty()) begin_write(sequence, sequence.num_computed_tokens, true, held);
  } catch (const std::exception&) {  // no memory
    cache_.unpin(held);
  }
}

// Takes what is held unless it throws.
void PrefixTiers::begin_write(const Sequence& sequence, int32_t position, bool is_end, cache::PrefixCache::Pin& held) {
  const PrefixLayout& layout = stores_.front()->layout();
  CopyQueue<PrefixWrite>::Copies begun;
  PrefixWrite& write = *begun.emplace_back(std::make_unique<PrefixWrite>());
  write.salt = sequence.cache_salt;
  write.tokens.assign(sequence.tokens.begin(), sequence.tokens.begin() + position);
  write.num_prompt_tokens = sequence.num_prompt_tokens;
  if (const int32_t num_open = position % layout.block_size; num_open > 0) {
    write.open_block.resize(layout.block_bytes);
    if (!copier_.copy_block(held.blocks.back(), num_open, write.open_block).is_ok()) return cache_.unpin(held);
  }
  write.held = held;  // a copy: what follows may throw
  write.sequence_id = sequence.id;
  write.is_end = is_end;
  const auto entry = writing_.insert(sequence.id);
  try {
    writer_.add(begun);
  } catch (...) {
    writing_.erase(entry);
    throw;
  }
  held = {};
  num_ends_ += is_end;
}

void PrefixTiers::end_writes() noexcept {
  try {
    for (const std::unique_ptr<PrefixWrite>& write : writer_.take_finished()) {
      cache_.unpin(write->held);
      writing_.erase(writing_.find(write->sequence_id));
      num_ends_ -= write->is_end;
      followers_.clear();
    }
  } catch (const std::exception&) {  // no memory: the next step takes them
  }
}

void PrefixTiers::wait_for_any(std::chrono::steady_clock::time_point deadline) {
  if (!reading_.empty()) reader_.wait_for_any(deadline);
  else writer_.wait_for_any(deadline);
}

}  // namespace pagoda::engine
