// PrefixCopier: copies prefixes out of the caches on the device, and into them as if a sequence had computed them.
// Thread rule: the engine's thread, except copy_out() and fill(): any thread, while steps run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "cache/prefix_cache.h"
#include "engine/tier/prefix_store.h"
#include "model/model.h"
#include "request/sequence.h"

namespace pagoda::engine {

class PrefixCopier {
 public:
  PrefixCopier(model::Model& model, cache::PrefixCache& cache) : model_(model), cache_(cache) {}

  // The blocks and the state that `head` describes; `blocks` are those of all tokens, the state is in `slot`. No step
  // may write to what is copied: the last block, which others may continue, can be given as `open_block` instead.
  Result<PrefixStore::ContentPtr> copy_out(std::span<const int32_t> tokens, std::span<const int32_t> blocks,
                                           io::PrefixFileHead head, int32_t slot,
                                           std::span<const std::byte> open_block = {});
  // The first `num_tokens` tokens of a block.
  Status copy_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) {
    return model_.read_block(block, num_tokens, to);
  }
  // Puts the blocks of `content` into the cache, and its state if `wants_state`. Fails if there is no space, or if
  // the blocks before them are not cached. As reserve(), fill() and publish().
  Status place(const std::string& salt, const PrefixStore::Content& content, bool wants_state);

  // Memory of the caches that only this read uses until it is published.
  struct Target {
    request::Sequence reader;  // holds the blocks
    int32_t slot = -1;         // for the state at the end; -1: it is not wanted
    int32_t num_filled = 0;    // tokens whose blocks are cached or filled
    bool has_state = false;    // the slot is filled
  };
  // For all `tokens`. Fails if there is no space.
  Status reserve(const std::string& salt, std::span<const int32_t> tokens, bool wants_state, Target& target);
  // The next content of several that follow each other; the last one has the state.
  Status fill(Target& target, const PrefixStore::Content& content);
  // Makes what was filled part of the cache and gives the rest back. True if it is all that was reserved.
  bool publish(Target& target) noexcept;

 private:
  model::Model& model_;
  cache::PrefixCache& cache_;
};

}  // namespace pagoda::engine
