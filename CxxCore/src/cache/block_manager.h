// BlockManager: which KV blocks are free and how many sequences hold each of the others. Ids only; owns no memory.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::cache {

class BlockManager {
 public:
  BlockManager(int64_t num_blocks, int32_t block_size);

  int64_t num_blocks() const noexcept { return static_cast<int64_t>(ref_counts_.size()); }
  int64_t num_free() const noexcept { return static_cast<int64_t>(free_.size()); }
  int32_t block_size() const noexcept { return block_size_; }
  int32_t ref_count(int32_t block) const noexcept { return ref_counts_[static_cast<size_t>(block)]; }

  int64_t blocks_for(int64_t num_tokens) const noexcept { return (num_tokens + block_size_ - 1) / block_size_; }

  // Makes `table` long enough for `num_tokens`. False, and nothing changed, when there are not enough free blocks.
  [[nodiscard]] bool grow(std::vector<int32_t>& table, int64_t num_tokens);

  // One more holder for each block: a prefix shared by two sequences.
  void share(std::span<const int32_t> blocks) noexcept;

  // One holder less for each block of `table`, which becomes empty; blocks without a holder are free again.
  void release(std::vector<int32_t>& table) noexcept;

 private:
  int32_t block_size_;
  std::vector<int32_t> ref_counts_;  // [num_blocks]; 0 = free
  std::vector<int32_t> free_;        // a stack: the block freed last is taken first, while it is warm in the caches
};

}  // namespace pagoda::cache
