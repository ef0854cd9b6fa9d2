// BlockManager: a stack of free ids, a list of cached free blocks by age, and a reference count per block.
#include "cache/block_manager.h"

namespace pagoda::cache {

BlockManager::BlockManager(int64_t num_blocks, int32_t block_size)
    : block_size_(block_size), blocks_(static_cast<size_t>(num_blocks)) {
  free_.reserve(blocks_.size());
  for (int64_t block = num_blocks - 1; block >= 0; --block) free_.push_back(static_cast<int32_t>(block));
}

bool BlockManager::grow(std::vector<int32_t>& table, int64_t num_tokens) {
  const int64_t wanted = blocks_for(num_tokens) - static_cast<int64_t>(table.size());
  if (wanted > num_free()) return false;
  for (int64_t i = 0; i < wanted; ++i) table.push_back(take());
  return true;
}

int32_t BlockManager::take() noexcept {
  int32_t block = oldest_;
  if (!free_.empty()) {
    block = free_.back();
    free_.pop_back();
  } else {
    unlink(block);
    at(block).is_kept = false;
    ++num_evictions_;
    forget_(block);
  }
  at(block).ref_count = 1;
  return block;
}

void BlockManager::share(std::span<const int32_t> blocks) noexcept {
  for (int32_t block : blocks)
    if (at(block).ref_count++ == 0) unlink(block);
}

void BlockManager::release(std::vector<int32_t>& table) noexcept {
  for (auto block = table.rbegin(); block != table.rend(); ++block) release_one(*block);
  table.clear();
}

void BlockManager::release_one(int32_t block) noexcept {
  if (--at(block).ref_count > 0) return;
  if (at(block).is_kept) link(block);
  else free_.push_back(block);
}

void BlockManager::touch(int32_t block) noexcept {
  if (at(block).ref_count > 0 || !at(block).is_kept) return;
  unlink(block);
  link(block);
}

void BlockManager::keep(int32_t block) noexcept { at(block).is_kept = true; }

void BlockManager::drop(int32_t block) noexcept {
  if (!at(block).is_kept) return;
  at(block).is_kept = false;
  if (at(block).ref_count > 0) return;
  unlink(block);
  free_.push_back(block);
}

void BlockManager::link(int32_t block) noexcept {
  at(block).older = newest_;
  at(block).newer = -1;
  (newest_ >= 0 ? at(newest_).newer : oldest_) = block;
  newest_ = block;
  ++num_kept_;
}

void BlockManager::unlink(int32_t block) noexcept {
  const Block& b = at(block);
  (b.older >= 0 ? at(b.older).newer : oldest_) = b.newer;
  (b.newer >= 0 ? at(b.newer).older : newest_) = b.older;
  --num_kept_;
}

}  // namespace pagoda::cache
