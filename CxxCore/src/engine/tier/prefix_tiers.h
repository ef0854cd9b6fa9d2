// PrefixTiers: moves prefixes between the caches on the device and the stores behind them, host memory before disk.
// Prefixes are read for the next sequence in the queue, one at a time, so that running sequences never wait for more
// than one.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_store.h"
#include "request/sequence.h"

namespace pagoda::engine {

class PrefixTiers {
 public:
  // `stores`: at least one, the fastest first.
  PrefixTiers(PrefixCopier& copier, cache::PrefixCache& cache, std::vector<std::shared_ptr<PrefixStore>> stores)
      : copier_(copier), cache_(cache), stores_(std::move(stores)) {}

  // Loads one more prefix of `sequence` into the caches. False if there is none worth loading, or no space.
  bool read_for(const request::Sequence& sequence);
  void begin_again() noexcept { reading_id_ = 0; }  // for a sequence that may have lost the prefixes it has read

  // Copies the first `position` tokens, whose state is in `slot`, to the stores. Whatever cannot be copied is
  // recomputed when it is needed.
  void write(const request::Sequence& sequence, int32_t position, int32_t slot) noexcept;

 private:
  struct Source {
    PrefixStore* store = nullptr;
    PrefixStore::Next next;
    bool wants_state = false;
  };
  std::optional<Source> find_source(const request::Sequence& sequence, const cache::PrefixIndex::Match& match);
  void keep(const request::Sequence& sequence, int32_t position, int32_t slot);

  PrefixCopier& copier_;
  cache::PrefixCache& cache_;
  std::vector<std::shared_ptr<PrefixStore>> stores_;
  uint64_t reading_id_ = 0;    // the sequence that read last
  int64_t last_progress_ = 0;  // its progress then: a sequence that makes none under memory pressure stops reading
};

}  // namespace pagoda::engine
