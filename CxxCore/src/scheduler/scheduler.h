// Scheduler: decides who runs in the next step, how many tokens each, and whom to preempt. Pure: no tensor, no device.
// Policy: rows that decode come first, then prompts in order of arrival under the token budget, then newcomers in order
// of arrival; nobody overtakes a newcomer that must wait, for room or for another's prefix. A shortage of blocks
// preempts the newest sequence. Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "request/sequence.h"

namespace pagoda::scheduler {

struct SchedulerLimits {
  int32_t max_num_seqs = 16;
  int32_t max_num_batched_tokens = 512;  // at least max_num_seqs, so that every running sequence can move
  int32_t max_model_len = 0;             // tokens of one sequence
  bool has_state = false;                // sequences need a recurrent slot
  int32_t max_state_saves = 0;           // of one step
};

struct ScheduledSequence {
  request::Sequence* sequence = nullptr;
  int32_t num_tokens = 0;  // of sequence->tokens, from num_computed_tokens on
  bool keeps_row = false;  // it was in the same row of the batch when it last ran, and no other sequence since
};

struct PlannedSave {  // of a row's recurrent state, on the way
  const request::Sequence* sequence = nullptr;
  int32_t position = 0;  // tokens before it
  int32_t slot = -1;     // reserved
};

struct StepPlan {
  std::vector<ScheduledSequence> rows;        // in the order of the batch
  cache::PrefixCache::Copies copies;          // before the rows
  std::vector<PlannedSave> saves;             // in the order of the batch
  std::vector<request::Sequence*> preempted;  // back in the queue; their blocks and slots are free already

  int32_t num_tokens() const noexcept {
    int32_t n = 0;
    for (const ScheduledSequence& row : rows) n += row.num_tokens;
    return n;
  }
};

class Scheduler {
 public:
  Scheduler(const SchedulerLimits& limits, cache::BlockManager& blocks, cache::StatePool& states,
            cache::PrefixCache& cache);

  // Whether a sequence of `num_prompt_tokens` that may generate `max_tokens` can ever run to its end; the error has the
  // counts.
  Status check_admission(int64_t num_prompt_tokens, int64_t max_tokens) const;

  void add(request::Sequence* sequence);  // to the end of the queue
  // Finished, cancelled or failed, in whatever state; frees what it holds. What it computed stays in the prefix cache
  // when it `is_good`.
  void remove(request::Sequence* sequence, bool is_good);

  // The next step, of at most `max_tokens` tokens or as many as run, whichever is more. Blocks for every planned token
  // are in the block tables when this returns. Valid until the next call.
  const StepPlan& schedule(int32_t max_tokens = INT32_MAX);

  request::Sequence* next_waiting() const noexcept { return waiting_.empty() ? nullptr : waiting_.front(); }
  int32_t num_waiting() const noexcept { return static_cast<int32_t>(waiting_.size()); }
  int32_t num_running() const noexcept { return static_cast<int32_t>(running_.size()); }
  bool has_work() const noexcept { return !waiting_.empty() || !running_.empty(); }
  int64_t num_preemptions() const noexcept { return num_preemptions_; }

 private:
  void schedule_decodes(int32_t& budget);
  void schedule_prompts(int32_t& budget);
  void admit_newcomers(int32_t& budget);
  void plan_row(request::Sequence* sequence, int32_t num_tokens, int32_t& budget);
  void preempt_newest();
  void plan_saves(const request::Sequence* sequence, int32_t num_tokens);
  void arrange_rows();

  SchedulerLimits limits_;
  cache::BlockManager& blocks_;
  cache::StatePool& states_;
  cache::PrefixCache& cache_;
  std::deque<request::Sequence*> waiting_;   // in order of arrival, preempted ones included
  std::vector<request::Sequence*> running_;  // in order of arrival; every one of these arrived before every waiting one
  StepPlan plan_;
  std::vector<ScheduledSequence> arranged_;  // the rows of plan_ while they are put in order
  std::vector<uint64_t> row_owners_;         // [max_num_seqs] id of the sequence that was last in each row of a batch
  int64_t num_preemptions_ = 0;
};

}  // namespace pagoda::scheduler
