// BlockManager: a stack of free ids and a count of holders per block.
#include "cache/block_manager.h"

namespace pagoda::cache {

BlockManager::BlockManager(int64_t num_blocks, int32_t block_size)
    : block_size_(block_size), ref_counts_(static_cast<size_t>(num_blocks), 0) {
  free_.reserve(ref_counts_.size());
  for (int64_t block = num_blocks - 1; block >= 0; --block) free_.push_back(static_cast<int32_t>(block));
}

bool BlockManager::grow(std::vector<int32_t>& table, int64_t num_tokens) {
  const int64_t wanted = blocks_for(num_tokens) - static_cast<int64_t>(table.size());
  if (wanted > num_free()) return false;
  for (int64_t i = 0; i < wanted; ++i) {
    const int32_t block = free_.back();
    free_.pop_back();
    ref_counts_[static_cast<size_t>(block)] = 1;
    table.push_back(block);
  }
  return true;
}

void BlockManager::share(std::span<const int32_t> blocks) noexcept {
  for (int32_t block : blocks) ++ref_counts_[static_cast<size_t>(block)];
}

void BlockManager::release(std::vector<int32_t>& table) noexcept {
  for (auto block = table.rbegin(); block != table.rend(); ++block) {
    if (--ref_counts_[static_cast<size_t>(*block)] == 0) free_.push_back(*block);
  }
  table.clear();
}

}  // namespace pagoda::cache
