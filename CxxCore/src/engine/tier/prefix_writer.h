// write_prefix(): copies a prefix, which is held in the caches meanwhile, to the stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_store.h"

namespace pagoda::engine {

struct PrefixWrite {
  uint64_t sequence_id = 0;
  bool is_end = false;  // the sequence holds the blocks no longer
  std::string salt;
  std::vector<int32_t> tokens;
  int32_t num_prompt_tokens = 0;
  cache::PrefixCache::Pin held;       // the blocks of all tokens, and the state after them
  std::vector<std::byte> open_block;  // the last block, copied before, if others may still write to the rest of it
};

// Any thread, beside the steps. Whatever cannot be copied is recomputed when it is needed.
void write_prefix(PrefixCopier& copier, std::span<const std::shared_ptr<PrefixStore>> stores, bool has_state,
                  const PrefixWrite& write) noexcept;

}  // namespace pagoda::engine
