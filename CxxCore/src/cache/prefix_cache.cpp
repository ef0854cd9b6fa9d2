// PrefixCache: admission with reuse, publication while a sequence runs, and retention when it ends.
#include "cache/prefix_cache.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "cache/checkpoint_plan.h"

namespace pagoda::cache {

using request::Sequence;

constexpr int32_t kWorthWaiting = 16;  // tokens
constexpr int32_t kMaxDistance = 2;    // tokens that another may have to compute first for each token that it saves
constexpr int32_t kBranchUses = 3;     // expected uses of a state where two prompts diverged: a third use is likely
constexpr int32_t kPreemptedUses = 8;  // expected uses of the state that a preempted sequence will resume from
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

// Space for the position was reserved with the sequence; if not, it is not worth an allocation.
bool PrefixCache::can_plan_save(const Sequence& sequence) const noexcept {
  const std::vector<int32_t>& planned = sequence.checkpoint_positions;
  return index_.has_state() && index_.max_checkpoints() > 0 && planned.size() < planned.capacity();
}

void PrefixCache::plan_save(Sequence& sequence, int32_t position) const noexcept {
  std::vector<int32_t>& planned = sequence.checkpoint_positions;
  const auto next = std::ranges::lower_bound(planned, position);
  if (next == planned.end() || *next != position) planned.insert(next, position);
}

void PrefixCache::learn_branch(Sequence& sequence, const PrefixIndex::Match& match) const noexcept {
  const int32_t branch = match.num_matched;
  if (!can_plan_save(sequence)) return;
  if (branch - match.num_tokens < kWorthWaiting || branch >= sequence.num_tokens()) return;
  if (std::ranges::binary_search(sequence.checkpoint_positions, branch)) return;
  plan_save(sequence, branch);
  sequence.branch_position = branch;
}

bool PrefixCache::admit(Sequence& sequence, Copies& copies, int64_t num_spare_blocks) {
  PrefixIndex::Match match;
  if (sequence.uses_cache) match = find(sequence);

  sequence.first_changed_block = 0;
  std::vector<int32_t>& table = sequence.block_table;
  const size_t num_full = static_cast<size_t>(match.num_tokens / blocks_.block_size());
  int32_t partial = -1;
  if (match.num_tokens > 0) index_.chain_to(match.block, table);
  if (table.size() > num_full) partial = table.back();
  table.resize(num_full);
  blocks_.share(table);
  if (partial >= 0) blocks_.touch(partial);
  const int64_t num_wanted = blocks_.blocks_for(sequence.num_tokens()) - static_cast<int64_t>(num_full);
  if (num_wanted + num_spare_blocks > blocks_.num_free() || !blocks_.grow(table, sequence.num_tokens())) {
    blocks_.release(table);
    return false;
  }
  unclaim(sequence);
  if (match.slot >= 0) index_.touch(match.slot);  // only after admission: a waiting sequence uses nothing
  if (partial >= 0) copies.blocks.push_back({partial, table[num_full]});
  if (index_.has_state()) {
    sequence.state_slot = states_.acquire();
    sequence.has_fresh_slot = match.num_tokens == 0;
    if (match.num_tokens > 0) copies.slots.push_back({match.slot, sequence.state_slot});
  }
  sequence.num_published_blocks = static_cast<int32_t>(num_full);
  sequence.num_computed_tokens = match.num_tokens;
  if (sequence.num_preemptions > 0) {
    stats_.num_recomputed_tokens += std::max(0, sequence.num_tokens_before_preemption - match.num_tokens);
  } else if (sequence.uses_cache) {
    learn_branch(sequence, match);
    sequence.num_cached_tokens = match.num_tokens;
    sequence.num_matched_tokens = match.num_matched;
    ++stats_.num_lookups;
    stats_.num_hits += match.num_tokens > 0;
    stats_.num_cached_tokens += match.num_tokens;
    if (match.num_matched > match.num_tokens && match.num_matched < sequence.num_tokens())
      stats_.last_near_miss = match.num_matched;
  }
  return true;
}

PrefixCache::Pin PrefixCache::pin(const PrefixIndex::Match& match) {
  Pin pin;
  index_.chain_to(match.block, pin.blocks);
  blocks_.share(pin.blocks);
  pin.slot = match.slot;
  if (match.slot >= 0) pin.number = index_.pin(match.slot);
  return pin;
}

void PrefixCache::unpin(Pin& pin) noexcept {
  if (pin.number > 0) index_.unpin(pin.slot, pin.number);
  else if (pin.slot >= 0) states_.release(pin.slot);
  blocks_.release(pin.blocks);
}

PrefixCache::Pin PrefixCache::hold(const Sequence& sequence, int32_t position) {
  const PrefixIndex::Match match = index_.find(sequence.cache_salt, sequence.tokens, position);
  return match.num_tokens == position && match.slot >= 0 ? pin(match) : Pin();
}

PrefixCache::Pin PrefixCache::hold_end(Sequence& sequence, bool becomes_checkpoint) {
  if (index_.has_state() && becomes_checkpoint) keep_end(sequence);
  if (index_.has_state() && sequence.state_slot < 0) return hold(sequence, sequence.num_computed_tokens);
  const auto num_blocks = static_cast<std::ptrdiff_t>(blocks_.blocks_for(sequence.num_computed_tokens));
  Pin held;
  held.blocks.assign(sequence.block_table.begin(), sequence.block_table.begin() + num_blocks);
  blocks_.share(held.blocks);
  held.slot = std::exchange(sequence.state_slot, -1);
  return held;
}

bool PrefixCache::admit_reader(Sequence& reader) {
  index_.chain_to(find(reader).matched_block, reader.block_table);
  reader.num_published_blocks = static_cast<int32_t>(reader.block_table.size());
  blocks_.share(reader.block_table);
  if (blocks_.grow(reader.block_table, reader.num_tokens())) return true;
  blocks_.release(reader.block_table);
  return false;
}

// The last position up to `limit` from which others will be able to resume when `leader` has computed it.
int32_t PrefixCache::last_save(const Sequence& leader, int32_t limit) const noexcept {
  if (!index_.has_state()) return limit - limit % blocks_.block_size();  // it publishes whole blocks
  int32_t last = 0;
  for (int32_t p = next_save(leader, leader.num_computed_tokens); p <= limit; p = next_save(leader, p)) last = p;
  // Another state is saved for those who wait, if the step that computes it is not planned yet.
  const bool is_ahead = limit > std::max(leader.num_computed_tokens, leader.num_planned_tokens);
  return is_ahead && limit - last >= kWorthWaiting && can_plan_save(leader) ? limit : last;
}

PrefixCache::Leader PrefixCache::find_leader(const Sequence& newcomer,
                                             std::span<Sequence* const> running) const noexcept {
  Leader leader;
  if (!newcomer.uses_cache || newcomer.num_tokens() <= kWorthWaiting) return leader;
  int32_t cached = -1;  // looked up when there is a sequence to follow
  for (Sequence* other : running) {
    if (!other->uses_cache || other->num_uncomputed() <= 1 || other->cache_salt != newcomer.cache_salt) continue;
    if (other->priority > newcomer.priority && !other->is_overdue) continue;
    const auto shared = std::ranges::mismatch(newcomer.tokens, other->tokens).in1 - newcomer.tokens.begin();
    const int32_t most = std::min({static_cast<int32_t>(shared), newcomer.num_tokens(), other->num_tokens()});
    const int32_t best = last_save(*other, std::min(most, newcomer.num_tokens() - 1));
    if (best <= other->num_computed_tokens || best < kWorthWaiting) continue;
    if (cached < 0) cached = find(newcomer).num_tokens;
    const int32_t gain = best - cached, distance = best - other->num_computed_tokens;
    const bool is_worth_it = gain >= kWorthWaiting && kMaxDistance * gain >= distance;
    if (is_worth_it && best > leader.position) leader = {other, best};
  }
  return leader;
}

void PrefixCache::note_follower(const Leader& leader) noexcept {
  Sequence& sequence = *leader.sequence;
  if (can_plan_save(sequence)) plan_save(sequence, leader.position);
  sequence.next_awaited = std::min(sequence.next_awaited, leader.position);
  sequence.last_awaited = std::max(sequence.last_awaited, leader.position);
  ++sequence.num_followers;
}

int32_t PrefixCache::claim(Sequence& waiting) noexcept {
  unclaim(waiting);
  const PrefixIndex::Match match = find(waiting);
  waiting.counted_version = index_.version();
  waiting.claimed_slot = match.slot;
  if (match.slot >= 0) waiting.claim = index_.claim(match.slot);
  return match.num_tokens;
}

void PrefixCache::unclaim(Sequence& sequence) noexcept {
  index_.unclaim(sequence.claimed_slot, sequence.claim);
  sequence.claimed_slot = -1;
}

int32_t PrefixCache::next_save(const Sequence& sequence, int32_t position) const noexcept {
  const auto& planned = sequence.checkpoint_positions;
  const auto next = std::ranges::upper_bound(planned, position);
  if (next != planned.end()) return *next;
  const bool has_grid = sequence.uses_cache && index_.max_checkpoints() > 0;
  const int32_t from = std::max(position, sequence.num_prompt_tokens);
  return has_grid ? (from / kCheckpointGrid + 1) * kCheckpointGrid : kNever;
}

PrefixCache::BlockTail PrefixCache::tail_before(const Sequence& sequence, int32_t position) const noexcept {
  const int32_t index = (position - 1) / blocks_.block_size(), first = index * blocks_.block_size();
  return {index > 0 ? sequence.block_table[index - 1] : kNoBlock, sequence.block_table[index],
          std::span(sequence.tokens).subspan(static_cast<size_t>(first), static_cast<size_t>(position - first))};
}

// Of two blocks with the same tokens one is sufficient: their contents are bit-identical.
void PrefixCache::publish(Sequence& sequence) {
  if (!sequence.uses_cache) return;
  const int32_t num_full = sequence.num_computed_tokens / blocks_.block_size();
  for (int32_t& i = sequence.num_published_blocks; i < num_full; ++i) {
    const BlockTail tail = tail_before(sequence, (i + 1) * blocks_.block_size());
    const int32_t existing = index_.publish(tail.parent, sequence.cache_salt, tail.tokens, tail.block);
    if (existing == tail.block) continue;
    blocks_.replace(sequence.block_table[i], existing);
    sequence.first_changed_block = std::min(sequence.first_changed_block, i);
  }
}

bool PrefixCache::add_checkpoint(Sequence& sequence, int32_t position, int32_t slot) {
  const BlockTail tail = tail_before(sequence, position);
  int32_t num_uses = position == sequence.branch_position ? kBranchUses : 1;
  if (position == sequence.last_awaited) num_uses = std::max(num_uses, sequence.num_followers);
  return index_.add_checkpoint(tail.parent, sequence.cache_salt, tail.tokens, tail.block, slot, num_uses);
}

void PrefixCache::free_before(Sequence& sequence, int32_t position) noexcept {
  const int32_t first = sequence.num_freed_blocks, end = position / blocks_.block_size();
  if (sequence.uses_cache || end <= first) return;
  blocks_.release_first(
      std::span(sequence.block_table).subspan(static_cast<size_t>(first), static_cast<size_t>(end - first)));
  sequence.num_freed_blocks = end;
}

void PrefixCache::retire(Sequence& sequence, bool is_good) noexcept {
  unclaim(sequence);
  try {
    if (is_good && sequence.uses_cache && sequence.num_computed_tokens > 0) keep_end(sequence);
  } catch (const std::bad_alloc&) {
  }
  release(sequence);
}

void PrefixCache::preempt(Sequence& sequence) noexcept {
  try {
    publish(sequence);
  } catch (const std::bad_alloc&) {
  }
  release(sequence);
  if (sequence.uses_cache) expect_return(sequence);
}

void PrefixCache::expect_return(const Sequence& sequence) noexcept {
  if (const int32_t slot = find(sequence).slot; slot >= 0) index_.expect_uses(slot, kPreemptedUses);
}

void PrefixCache::release(Sequence& sequence) noexcept {
  if (sequence.state_slot >= 0) states_.release(sequence.state_slot);
  sequence.state_slot = -1;
  sequence.has_fresh_slot = false;
  sequence.block_table.erase(sequence.block_table.begin(), sequence.block_table.begin() + sequence.num_freed_blocks);
  sequence.num_freed_blocks = 0;
  blocks_.release(sequence.block_table);
  sequence.num_published_blocks = 0;
}

// The slot itself becomes the checkpoint, without a copy.
void PrefixCache::keep_end(Sequence& sequence) {
  publish(sequence);
  const BlockTail end = tail_before(sequence, sequence.num_computed_tokens);
  if (!index_.has_state()) {
    if (end.tokens.size() < static_cast<size_t>(blocks_.block_size()))
      index_.publish_end(end.parent, sequence.cache_salt, end.tokens, end.block);
    return;
  }
  if (sequence.state_slot < 0 || sequence.has_fresh_slot || !index_.adopt_slot()) return;
  const int32_t slot = std::exchange(sequence.state_slot, -1);
  try {
    index_.add_checkpoint(end.parent, sequence.cache_salt, end.tokens, end.block, slot);
  } catch (const std::bad_alloc&) {
    index_.give_back_slot(slot);
  }
}

}  // namespace pagoda::cache
