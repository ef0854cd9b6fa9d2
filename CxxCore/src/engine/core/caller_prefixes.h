// CallerPrefixes: prefixes in the cache that the program pins, or copies to a file and back.
// State: the pins. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_store.h"
#include "pagoda/prefix_match.h"

namespace pagoda::engine {

class CallerPrefixes {
 public:
  // `refusal`: not ok if the engine keeps no prefixes that could be pinned or copied.
  CallerPrefixes(cache::PrefixCache& cache, cache::BlockManager& blocks, PrefixCopier& copier, bool has_state,
                 Status refusal)
      : cache_(cache), blocks_(blocks), copier_(copier), has_state_(has_state), refusal_(std::move(refusal)) {}

  // Positions are numbers of tokens. find: the longest cached prefix of these tokens. copy: the blocks of `tokens`,
  // which must be cached, from the block at `first` of `head` on, and the state after them if it wants that. place: the
  // reverse; blocks before those of `content` must be cached.
  int32_t find(std::string_view salt, std::span<const int32_t> tokens) const noexcept;
  Result<PrefixStore::ContentPtr> copy(const std::string& salt, std::span<const int32_t> tokens,
                                       io::PrefixFileHead head);
  Status place(const std::string& salt, const PrefixStore::Content& content, bool wants_state);

  PrefixPin pin(const std::string& salt, std::span<const int32_t> tokens);
  void unpin(uint64_t pin_id) noexcept;
  bool unpin_oldest() noexcept;  // false if there is none

 private:
  cache::PrefixCache& cache_;
  cache::BlockManager& blocks_;
  PrefixCopier& copier_;
  bool has_state_;
  Status refusal_;
  std::map<uint64_t, cache::PrefixCache::Pin> pins_;
  int64_t num_pinned_blocks_ = 0;
  uint64_t last_pin_ = 0;
};

}  // namespace pagoda::engine
