// BlockManager: which KV blocks are free and how many sequences hold each of the others. Ids only; owns no memory.
// A free block may be kept: the PrefixIndex knows its content, which may be wanted again. Kept blocks
// are given out last, the one released longest ago first, and their keeper is told. Thread rule: the engine's thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pagoda::cache {

class BlockManager {
 public:
  BlockManager(int64_t num_blocks, int32_t block_size);
  BlockManager(const BlockManager&) = delete;  // a keeper's callback points into it
  BlockManager& operator=(const BlockManager&) = delete;

  int64_t num_blocks() const noexcept { return static_cast<int64_t>(blocks_.size()); }
  int64_t num_free() const noexcept { return static_cast<int64_t>(free_.size()) + num_kept_; }  // kept ones included
  int64_t num_kept() const noexcept { return num_kept_; }
  int64_t num_evictions() const noexcept { return num_evictions_; }
  int32_t block_size() const noexcept { return block_size_; }
  int32_t ref_count(int32_t block) const noexcept { return at(block).ref_count; }

  int64_t blocks_for(int64_t num_tokens) const noexcept { return (num_tokens + block_size_ - 1) / block_size_; }

  // Makes `table` long enough for `num_tokens`. False, and nothing changed, when there are not enough free blocks.
  [[nodiscard]] bool grow(std::vector<int32_t>& table, int64_t num_tokens);

  // One more holder for each block: a prefix shared by two sequences, or a kept one taken up again.
  void share(std::span<const int32_t> blocks) noexcept;

  // One holder less for each block of `table`, which becomes empty. From the last to the first, so that of a prefix the
  // end is given out before the beginning, without which the end is worth nothing.
  void release(std::vector<int32_t>& table) noexcept;

  // One holder less for each of the first blocks of a table; the entries stay, but mean nothing any more.
  void release_first(std::span<const int32_t> blocks) noexcept {
    for (const int32_t block : blocks) release_one(block);
  }

  // A sequence holds `known` instead of the block in `entry`.
  void replace(int32_t& entry, int32_t known) noexcept {
    share({&known, 1});
    release_one(entry);
    entry = known;
  }

  // `forget(block)` is called when a kept block is given out for other content.
  void set_keeper(std::function<void(int32_t block)> forget) { forget_ = std::move(forget); }
  void touch(int32_t block) noexcept;  // one without a holder was used: as if it were released now
  void keep(int32_t block) noexcept;   // a held one
  void drop(int32_t block) noexcept;   // not kept any more; the keeper is not told

 private:
  struct Block {
    int32_t ref_count = 0;
    bool is_kept = false;
    int32_t older = -1, newer = -1;  // neighbours among the kept blocks without holder
  };

  Block& at(int32_t block) noexcept { return blocks_[block]; }
  const Block& at(int32_t block) const noexcept { return blocks_[block]; }
  int32_t take() noexcept;
  void release_one(int32_t block) noexcept;
  void link(int32_t block) noexcept;  // as the newest
  void unlink(int32_t block) noexcept;

  int32_t block_size_;
  std::vector<Block> blocks_;  // [num_blocks]
  std::vector<int32_t> free_;  // a stack: the block freed last is taken first, while it is warm in the caches
  int32_t oldest_ = -1, newest_ = -1;
  int64_t num_kept_ = 0, num_evictions_ = 0;
  std::function<void(int32_t)> forget_;
};

}  // namespace pagoda::cache
