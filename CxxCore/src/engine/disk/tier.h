// DiskTier: moves prefixes between the caches on the device and the DiskStore. Reading is done for the sequence that is
// next in the queue, one file at a time, so that running sequences never wait for more than one file.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "cache/prefix_cache.h"
#include "engine/disk/store.h"
#include "model/model.h"
#include "request/sequence.h"

namespace pagoda::engine {

class DiskTier {
 public:
  DiskTier(model::Model& model, cache::PrefixCache& cache, std::shared_ptr<DiskStore> store)
      : model_(model), cache_(cache), store_(std::move(store)) {}

  // Brings one more file of what `sequence` begins with into the caches. False when there is none worth it, or no room.
  bool read_for(const request::Sequence& sequence);
  void begin_again() noexcept { reading_id_ = 0; }  // for one that may have lost what it read

  // Leaves a copy of the first `position` tokens, whose state is in `slot`, to be written.
  void write(const request::Sequence& sequence, int32_t position, int32_t slot);

  DiskStats stats() const { return store_->stats(); }

 private:
  bool place(const request::Sequence& sequence, const DiskStore::Content& content, bool wants_state);
  Status fill(request::Sequence& reader, const DiskStore::Content& content, int32_t slot);

  model::Model& model_;
  cache::PrefixCache& cache_;
  std::shared_ptr<DiskStore> store_;
  uint64_t reading_id_ = 0;    // the sequence that read last,
  int64_t last_progress_ = 0;  // and what it had then: one that gets no further under pressure stops reading
};

}  // namespace pagoda::engine
