// PrefixIndex: eviction order of checkpoints. All have the same size, so the value of one is the number of tokens it
// saves: those since the previous state, times its uses. The value of an evicted checkpoint is added to all that are
// created or used later, so that a checkpoint does not stay forever because it was useful once. Those from which
// waiting sequences will resume come after those: their next use is certain. Pinned ones come last and stay.
#include <algorithm>

#include "cache/prefix_index.h"

namespace pagoda::cache {

constexpr int32_t kFarthest = 64;  // maximum blocks to search back for the previous state

bool PrefixIndex::goes_before(int32_t slot, int32_t other) const noexcept {
  const Checkpoint &a = checkpoint(slot), &b = checkpoint(other);
  if ((a.num_pins > 0) != (b.num_pins > 0)) return b.num_pins > 0;
  if ((a.num_claims > 0) != (b.num_claims > 0)) return b.num_claims > 0;
  return a.worth != b.worth ? a.worth < b.worth : a.last_use < b.last_use;
}

int32_t PrefixIndex::tokens_saved(int32_t slot) const noexcept {
  const Checkpoint& c = checkpoint(slot);
  int32_t block = c.block, end = c.length, saved = c.length;
  for (int32_t i = 0; i < kFarthest && block >= 0; ++i) {
    int32_t before = 0;
    for (int32_t other = node(block).first_checkpoint; other >= 0; other = checkpoint(other).next)
      if (checkpoint(other).length < end) before = std::max(before, checkpoint(other).length);
    if (before > 0) return saved - before;
    block = node(block).parent;
    end = blocks_.block_size() + 1;
    if (block >= 0) saved += blocks_.block_size();
  }
  return saved;
}

void PrefixIndex::enqueue(int32_t slot, int32_t num_uses) noexcept {
  checkpoint(slot).num_uses = num_uses;
  checkpoint(slot).num_claims = checkpoint(slot).num_pins = 0;
  checkpoint(slot).number = ++num_added_;
  eviction_queue_.push_back(slot);  // reserved for all slots
  checkpoint(slot).queue_index = static_cast<int32_t>(eviction_queue_.size()) - 1;
  appraise(slot);
}

void PrefixIndex::dequeue(int32_t slot) noexcept {
  const size_t index = static_cast<size_t>(checkpoint(slot).queue_index);
  const int32_t last = eviction_queue_.back();
  eviction_queue_.pop_back();
  checkpoint(slot).queue_index = -1;
  if (last == slot) return;
  place_in_queue(last, index);
  sift(index);
}

void PrefixIndex::appraise(int32_t slot) noexcept {
  Checkpoint& c = checkpoint(slot);
  c.worth = worth_given_up_ + int64_t{c.num_uses} * tokens_saved(slot);
  c.last_use = ++num_uses_;
  sift(static_cast<size_t>(c.queue_index));
}

void PrefixIndex::place_in_queue(int32_t slot, size_t index) noexcept {
  eviction_queue_[index] = slot;
  checkpoint(slot).queue_index = static_cast<int32_t>(index);
}

// Moves up while it precedes its parent, otherwise down while a child precedes it.
void PrefixIndex::sift(size_t index) noexcept {
  const int32_t slot = eviction_queue_[index];
  for (size_t up; index > 0 && goes_before(slot, eviction_queue_[up = (index - 1) / 2]); index = up)
    place_in_queue(eviction_queue_[up], index);
  for (size_t child; (child = 2 * index + 1) < eviction_queue_.size(); index = child) {
    if (child + 1 < eviction_queue_.size() && goes_before(eviction_queue_[child + 1], eviction_queue_[child])) ++child;
    if (!goes_before(eviction_queue_[child], slot)) break;
    place_in_queue(eviction_queue_[child], index);
  }
  place_in_queue(slot, index);
}

}  // namespace pagoda::cache
