// PrefixCopier: copies prefixes out of the caches on the device, and into them as if a sequence had computed them.
// Thread rule: the engine's thread only.
#pragma once

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

  // The blocks and the state that `head` describes; `blocks` are those of all tokens, the state is in `slot`.
  Result<PrefixStore::ContentPtr> copy_out(std::span<const int32_t> tokens, std::span<const int32_t> blocks,
                                           io::PrefixFileHead head, int32_t slot);
  // Puts the blocks of `content` into the cache, and its state if `wants_state`. Fails if there is no space, or if
  // the blocks before them are not cached.
  Status place(const std::string& salt, const PrefixStore::Content& content, bool wants_state);

 private:
  Status fill(request::Sequence& reader, const PrefixStore::Content& content, int32_t slot);

  model::Model& model_;
  cache::PrefixCache& cache_;
};

}  // namespace pagoda::engine
