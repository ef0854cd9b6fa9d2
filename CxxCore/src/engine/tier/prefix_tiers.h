// PrefixTiers: moves prefixes between the caches on the device and the stores behind them, the host's memory before the
// disk. Reading is done for the sequence that is next in the queue, one prefix at a time, so that running sequences
// never wait for more than one.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/tier/prefix_store.h"
#include "model/model.h"
#include "request/sequence.h"

namespace pagoda::engine {

class PrefixTiers {
 public:
  // `stores`: at least one, the fastest first.
  PrefixTiers(model::Model& model, cache::PrefixCache& cache, std::vector<std::shared_ptr<PrefixStore>> stores)
      : model_(model), cache_(cache), stores_(std::move(stores)) {}

  // Brings one more prefix of what `sequence` begins with into the caches. False when there is none worth it, or no
  // room.
  bool read_for(const request::Sequence& sequence);
  void begin_again() noexcept { reading_id_ = 0; }  // for one that may have lost what it read

  // Leaves a copy of the first `position` tokens, whose state is in `slot`, to be kept. What cannot be copied is
  // computed again when it is needed.
  void write(const request::Sequence& sequence, int32_t position, int32_t slot) noexcept;

 private:
  using Content = PrefixStore::Content;
  struct Source {
    PrefixStore* store = nullptr;
    PrefixStore::Next next;
    bool wants_state = false;
  };
  std::optional<Source> find_source(const request::Sequence& sequence, const cache::PrefixIndex::Match& match);
  bool place(const request::Sequence& sequence, const Content& content, bool wants_state);
  Status fill(request::Sequence& reader, const Content& content, int32_t slot);
  void keep(const request::Sequence& sequence, int32_t position, int32_t slot);
  PrefixStore::ContentPtr copy_out(const request::Sequence& sequence, io::PrefixFileHead head, int32_t slot);

  model::Model& model_;
  cache::PrefixCache& cache_;
  std::vector<std::shared_ptr<PrefixStore>> stores_;
  uint64_t reading_id_ = 0;    // the sequence that read last,
  int64_t last_progress_ = 0;  // and what it had then: one that gets no further under pressure stops reading
};

}  // namespace pagoda::engine
