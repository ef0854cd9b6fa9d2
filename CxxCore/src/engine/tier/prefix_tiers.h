// PrefixTiers: moves prefixes between the caches on the device and the stores behind them, host memory before disk.
// Prefixes are read beside the steps for all sequences that may run next, and none for two of them at once. They are
// written beside the steps too: their blocks and states are pinned until they have been copied.
// State: the copies that have begun, with the blocks and slots reserved or pinned for them.
// Thread rule: the engine's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/tier/copy_queue.h"
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_reader.h"
#include "engine/tier/prefix_store.h"
#include "engine/tier/prefix_writer.h"
#include "request/sequence.h"

namespace pagoda::engine {

class PrefixTiers {
 public:
  // `stores`: at least one, the fastest first.
  PrefixTiers(PrefixCopier& copier, cache::PrefixCache& cache, std::vector<std::shared_ptr<PrefixStore>> stores);

  // Begins to read prefixes for these waiting sequences, together. Clears is_restoring where there is none worth
  // reading, or no space.
  void begin_reads(std::span<request::Sequence* const> sequences);
  // A read that has ended, and is in the caches unless it failed. Then there may be another.
  struct Ended {
    uint64_t sequence_id = 0;
    bool is_placed = false, is_worth_retrying = false;
  };
  const std::vector<Ended>& end_reads();

  // Begins to copy to the stores: the first `position` tokens and the checkpoint after them; or, of a sequence that
  // gives its memory back afterwards, all computed tokens and the state after them, which may become a checkpoint.
  void write(const request::Sequence& sequence, int32_t position) noexcept;
  void write_end(request::Sequence& sequence, bool becomes_checkpoint) noexcept;
  void end_writes() noexcept;  // gives back what was pinned for those that have ended

  bool is_copying() const noexcept { return !reading_.empty() || !writing_.empty(); }
  bool frees_blocks_soon() const noexcept { return !reading_.empty() || num_ends_ > 0; }
  void wait_for_any(std::chrono::steady_clock::time_point deadline);
  void wait_for_writes() { writer_.wait_for_all(); }
  void wait_for_reads() { reader_.wait_for_all(); }

 private:
  struct Source {
    std::shared_ptr<PrefixStore> store;
    PrefixStore::Next next;
    bool wants_state = false;
  };
  std::optional<Source> find_source(const request::Sequence& sequence, int32_t num_cached, int32_t num_blocks);
  std::unique_ptr<PrefixRead> plan_read(const request::Sequence& sequence);
  std::unique_ptr<PrefixRead> begin_read(request::Sequence& sequence);
  void give_back(PrefixRead& read) noexcept;
  bool is_read_by_another(const PrefixRead& read) const noexcept;
  void begin_write(const request::Sequence& sequence, int32_t position, bool is_end, cache::PrefixCache::Pin& held);

  PrefixCopier& copier_;
  cache::PrefixCache& cache_;
  std::vector<std::shared_ptr<PrefixStore>> stores_;
  std::map<uint64_t, std::vector<Hash128Value>> reading_;  // keys of the prefixes being read, by sequence
  std::set<uint64_t> followers_;                           // sequences that wait for the end of any copy
  std::vector<Ended> ended_;
  std::multiset<uint64_t> writing_;  // sequences whose prefixes are being written
  int64_t num_ends_ = 0;             // of these, how many have given their blocks back
  CopyQueue<PrefixRead> reader_;     // the two end first
  CopyQueue<PrefixWrite> writer_;
};

}  // namespace pagoda::engine
