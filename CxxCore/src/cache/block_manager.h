// BlockManager: which KV blocks are free and how many sequences hold each of the others. Ids only; owns no memory.
// A free block may be kept: the PrefixIndex knows its content, which may be needed again. Kept blocks are allocated
// last, the least recently released first, and the keeper is notified. Thread rule: the engine's thread only.
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
  int64_t num_free() const noexcept { return static_cast<int64_t>(free_.size()) + num_kept_; }  // including kept ones
  int64_t num_kept() const noexcept { return num_kept_; }
  int64_t num_evictions() const noexcept { return num_evictions_; }
  int32_t block_size() const noexcept { return block_size_; }
  int32_t ref_count(int32_t block) const noexcept { return at(block).ref_count; }

  int64_t blocks_for(int64_t num_tokens) const noexcept { return (num_tokens + block_size_ - 1) / block_size_; }

  // Makes `table` long enough for `num_tokens`. False, and nothing changed, if there are not enough free blocks.
  [[nodiscard]] bool grow(std::vector<int32_t>& table, int64_t num_tokens);

  // Adds a holder to each block: a prefix shared by two sequences, or a kept block in use again.
  void share(std::span<const int32_t> blocks) noexcept;

  // Removes a holder from each block of `table`, which becomes empty. From last to first, so that the end of a prefix
  // is reallocated before its beginning, without which the end is useless.
  void release(std::vector<int32_t>& table) noexcept;

  // Removes a holder from each of the first blocks of a table; the entries remain but are no longer valid.
  void release_first(std::span<const int32_t> blocks) noexcept {
    for (const int32_t block : blocks) release_one(block);
  }

  // Replaces the block in `entry` of a sequence by `existing`, which has the same content.
  void replace(int32_t& entry, int32_t existing) noexcept {
    share({&existing, 1});
    release_one(entry);
    entry = existing;
  }

  // `forget(block)` is called when a kept block is reallocated.
  void set_keeper(std::function<void(int32_t block)> forget) { forget_ = std::move(forget); }
  void touch(int32_t block) noexcept;  // a block without holders was used: it counts as released now
  void keep(int32_t block) noexcept;   // a held block
  void drop(int32_t block) noexcept;   // no longer kept; the keeper is not notified

 private:
  struct Block {
    int32_t ref_count = 0;
    bool is_kept = false;
    int32_t older = -1, newer = -1;  // neighbours in the list of kept blocks without holders
  };

  Block& at(int32_t block) noexcept { return blocks_[block]; }
  const Block& at(int32_t block) const noexcept { return blocks_[block]; }
  int32_t take() noexcept;
  void release_one(int32_t block) noexcept;
  void link(int32_t block) noexcept;  // as the newest
  void unlink(int32_t block) noexcept;

  int32_t block_size_;
  std::vector<Block> blocks_;  // [num_blocks]
  std::vector<int32_t> free_;  // a stack: the block freed last is allocated first, while it is warm in the caches
  int32_t oldest_ = -1, newest_ = -1;
  int64_t num_kept_ = 0, num_evictions_ = 0;
  std::function<void(int32_t)> forget_;
};

}  // namespace pagoda::cache
