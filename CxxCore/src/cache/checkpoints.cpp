// PrefixIndex: checkpoints, which stand in slots, hang on blocks, and go when they were not used for longest.
#include "cache/prefix_index.h"

namespace pagoda::cache {

int32_t PrefixIndex::checkpoint_at(int32_t block, int32_t length) const noexcept {
  int32_t slot = node(block).first_checkpoint;
  while (slot >= 0 && checkpoint(slot).length != length) slot = checkpoint(slot).next;
  return slot;
}

bool PrefixIndex::adopt_slot() noexcept {
  if (num_checkpoints_ == max_checkpoints_) {
    if (oldest_ < 0) return false;  // there are none, or all are only reserved
    ++num_checkpoint_evictions_;
    remove_checkpoint(oldest_);
  }
  ++num_checkpoints_;
  return true;
}

int32_t PrefixIndex::reserve_slot() noexcept { return adopt_slot() ? states_.acquire() : -1; }

void PrefixIndex::give_back_slot(int32_t slot) noexcept {
  --num_checkpoints_;
  states_.release(slot);
}

bool PrefixIndex::add_checkpoint(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block,
                                 int32_t slot) {
  const int32_t length = static_cast<int32_t>(tokens.size());
  int32_t carrier = -1;
  for (int32_t other = first_below(parent); other >= 0; other = node(other).next) {
    if (!covers(other, salt, tokens)) continue;
    if (const int32_t known = checkpoint_at(other, length); known >= 0) {
      touch(known);
      give_back_slot(slot);
      return false;
    }
    if (carrier < 0 || other == block) carrier = other;
  }
  if (carrier < 0) {
    if (node(block).num_tokens == 0) insert(parent, salt, block);
    set_tokens(block, tokens);
    carrier = block;
  }
  attach(slot, carrier, length);
  link(slot);
  return true;
}

void PrefixIndex::move_checkpoints(int32_t from, int32_t to) noexcept {
  while (node(from).first_checkpoint >= 0) {
    const int32_t slot = node(from).first_checkpoint, length = checkpoint(slot).length;
    if (checkpoint_at(to, length) >= 0) {
      remove_checkpoint(slot);
      continue;
    }
    node(from).first_checkpoint = checkpoint(slot).next;
    attach(slot, to, length);
  }
}

void PrefixIndex::attach(int32_t slot, int32_t block, int32_t length) noexcept {
  checkpoint(slot).block = block;
  checkpoint(slot).length = length;
  checkpoint(slot).next = node(block).first_checkpoint;
  node(block).first_checkpoint = slot;
}

void PrefixIndex::remove_checkpoint(int32_t slot) noexcept {
  int32_t* place = &node(checkpoint(slot).block).first_checkpoint;
  while (*place != slot) place = &checkpoint(*place).next;
  *place = checkpoint(slot).next;
  checkpoint(slot).block = -1;
  unlink(slot);
  give_back_slot(slot);
}

void PrefixIndex::touch(int32_t slot) noexcept {
  unlink(slot);
  link(slot);
}

void PrefixIndex::link(int32_t slot) noexcept {
  checkpoint(slot).older = newest_;
  checkpoint(slot).newer = -1;
  (newest_ >= 0 ? checkpoint(newest_).newer : oldest_) = slot;
  newest_ = slot;
}

void PrefixIndex::unlink(int32_t slot) noexcept {
  const Checkpoint& c = checkpoint(slot);
  (c.older >= 0 ? checkpoint(c.older).newer : oldest_) = c.newer;
  (c.newer >= 0 ? checkpoint(c.newer).older : newest_) = c.older;
}

}  // namespace pagoda::cache
