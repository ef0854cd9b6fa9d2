// Forecast: the peak number of blocks that sequences will need beyond those they hold, if each grows by one token per
// step up to its limit and then releases the blocks that it alone holds.
// It looks no further ahead than its horizon, because many answers end before their limit. Each step that must preempt
// doubles the horizon; each answer that ends early, so that space was reserved in vain, shortens it.
// State: the horizon, and the sequences added since clear(); sized once.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/block_manager.h"
#include "request/sequence.h"

namespace pagoda::scheduler {

class Forecast {
 public:
  Forecast(const cache::BlockManager& blocks, int32_t max_num_seqs, int32_t max_model_len);

  void clear() noexcept { rows_.clear(); }
  void add(const request::Sequence& sequence) noexcept;  // running, or next to run with all its tokens
  int64_t num_blocks_wanted() noexcept;                  // for those added, beyond what they hold now

  void note_preemption() noexcept;
  void note_end(const request::Sequence& sequence) noexcept;

 private:
  struct Row {
    int32_t num_left = 0;    // tokens until it ends
    int32_t num_filled = 0;  // tokens in its last block; 0: all
    int64_t num_own = 0;     // blocks that become free when it ends
  };

  const cache::BlockManager& blocks_;
  const int32_t min_horizon_, max_horizon_;
  int32_t horizon_;
  std::vector<Row> rows_;  // reserved for one sequence more than the maximum running
};

}  // namespace pagoda::scheduler
