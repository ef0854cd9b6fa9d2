// PrefixTiers: moves prefixes between the caches on the device and the stores behind them, host memory before disk.
// Prefixes are read beside the steps for all sequences that may run next, and none for two of them at once.
// State: the reads that have begun, with the blocks and slots reserved for them.
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
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_reader.h"
#include "engine/tier/prefix_store.h"
#include "request/sequence.h"

namespace pagoda::engine {

class PrefixTiers {
 public:
  // `stores`: at least one, the fastest first.
  PrefixTiers(PrefixCopier& copier, cache::PrefixCache& cache, std::vector<std::shared_ptr<PrefixStore>> stores)
      : copier_(copier), cache_(cache), stores_(std::move(stores)), reader_(copier) {}

  // Begins to read prefixes for these waiting sequences, together. Clears is_restoring where there is none worth
  // reading, or no space.
  void begin_reads(std::span<request::Sequence* const> sequences);
  // Reads at once, for a preempted sequence: the next step may give its space away. True if its prefixes are cached.
  bool read_now(request::Sequence& sequence);
  // A read that has ended, and is in the caches unless it failed. Then there may be another.
  struct Ended {
    uint64_t sequence_id = 0;
    bool is_placed = false, is_worth_retrying = false;
  };
  const std::vector<Ended>& end_reads();
  bool is_reading() const noexcept { return !reading_.empty(); }
  void wait_for_any(std::chrono::steady_clock::time_point deadline) { reader_.wait_for_any(deadline); }

  // Copies the first `position` tokens, whose state is in `slot`, to the stores. Whatever cannot be copied is
  // recomputed when it is needed.
  void write(const request::Sequence& sequence, int32_t position, int32_t slot) noexcept;

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
  void keep(const request::Sequence& sequence, int32_t position, int32_t slot);

  PrefixCopier& copier_;
  cache::PrefixCache& cache_;
  std::vector<std::shared_ptr<PrefixStore>> stores_;
  std::map<uint64_t, std::vector<Hash128Value>> reading_;  // keys of the prefixes being read, by sequence
  std::set<uint64_t> followers_;                           // sequences that wait for the end of any read
  std::vector<Ended> ended_;
  PrefixReader reader_;  // ends first
};

}  // namespace pagoda::engine
