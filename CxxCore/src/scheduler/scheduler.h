// Scheduler: decides which sequences run in the next step, how many tokens each, and which to preempt. Pure: no tensor,
// no device.
//
// Policy. Sequences that decode come first, one token each. What is left of the step's tokens, P, is for prompts, those
// being read and those waiting alike, in the order of FairQueue: class, share, shortest rest first, arrival. One that
// must wait for room, for another's prefix or for the disk lets others pass. A shortage of blocks preempts, of the
// least urgent class, the newest sequence; of its class and share that one is the next to be admitted, and none takes
// the blocks in which its tokens are cached while it waits for room.
//
// No request starves. "Older" is: of a more urgent class, or of the same class and arrived earlier.
// - Reading: of the prompts being read the oldest gets at least q = max(1, P/4) tokens of every step, or its rest. So
//   with n tokens to read, behind k older prompts with N in all, one has been read after at most (N + n)/q + k + 1
//   steps; N counts what older ones read again after a preemption.
// - Admission: the oldest waiting sequence is passed at most kMaxPasses times. Then it is next, and none is admitted
//   before it; it fits at the latest when those that run have ended, for it was checked to fit alone. So one behind k
//   older ones is passed at most (k + 1) kMaxPasses times.
// - Running: the oldest sequence that runs is preempted by nothing, so it ends, and then the next one is the oldest.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "pagoda/engine_limits.h"
#include "request/sequence.h"
#include "scheduler/fair_queue.h"
#include "scheduler/forecast.h"

namespace pagoda::scheduler {

constexpr int32_t kMaxPasses = 16;
constexpr int32_t kOldestPart = 4;  // one of so many parts of a step's prompt tokens is for the oldest

struct ScheduledSequence {
  request::Sequence* sequence = nullptr;
  int32_t num_tokens = 0;  // of sequence->tokens, from num_computed_tokens on
  bool keeps_row = false;  // it was in the same row of the batch when it last ran, and no other sequence since
  int32_t num_drafts = 0;  // of sequence->drafts, behind its last token
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

  int32_t num_drafts() const noexcept {
    int32_t n = 0;
    for (const ScheduledSequence& row : rows) n += row.num_drafts;
    return n;
  }
  int32_t num_tokens() const noexcept {
    int32_t n = 0;
    for (const ScheduledSequence& row : rows) n += row.num_tokens + row.num_drafts;
    return n;
  }
};

class Scheduler {
 public:
  Scheduler(const EngineLimits& limits, cache::BlockManager& blocks, cache::StatePool& states,
            cache::PrefixCache& cache);

  // Whether a sequence of `num_prompt_tokens` that may generate `max_tokens` can ever run to its end; the error has the
  // counts.
  Status check_admission(int64_t num_prompt_tokens, int64_t max_tokens) const;

  // `leave` is called with each sequence that is about to be preempted, and must not throw. It may set is_reading: then
  // what it left elsewhere is read back before the sequence is admitted again.
  void set_before_preempting(std::function<void(request::Sequence&)> leave) { leave_ = std::move(leave); }

  void add(request::Sequence* sequence);  // to the queue; changes nothing when it throws
  // Finished, cancelled or failed, in whatever state; frees what it holds. What it computed stays in the prefix cache
  // when it `is_good`.
  void remove(request::Sequence* sequence, bool is_good) noexcept;

  // The next step, of at most `max_tokens` tokens or as many as run, whichever is more. Blocks for every planned token
  // are in the block tables when this returns. Valid until the next call.
  // Of sequences that are in flight nothing is planned, and `max_rows` leaves others for the step after it.
  const StepPlan& schedule(int32_t max_tokens = INT32_MAX, int32_t max_rows = INT32_MAX);
  const StepPlan& plan() const noexcept { return plan_; }  // the last one; incomplete if schedule() threw

  // How many drafts may follow the one token a sequence has to compute. None may complete a block of the recurrent
  // state or pass a position where the state is saved: neither can be undone.
  int32_t draft_room(const request::Sequence& sequence) const noexcept;
  // Room in the block table for that many drafts. False, and nothing changed, when there is none.
  bool grow(request::Sequence& sequence, int32_t num_drafts) {
    return blocks_.grow(sequence.block_table, sequence.num_tokens() + num_drafts);
  }
  const std::vector<request::Sequence*>& running() const noexcept { return running_; }
  // By class and arrival, preempted ones included.
  const std::vector<request::Sequence*>& waiting() const noexcept { return queue_.arrivals(); }

  // Of the waiting ones that read from disk, the first to do so; or null. One that was preempted reads when there is
  // room for it: before, what it reads would be lost again.
  request::Sequence* next_reader() noexcept;
  int32_t num_waiting() const noexcept { return queue_.num_waiting(); }
  int32_t num_running() const noexcept { return static_cast<int32_t>(running_.size()); }
  int32_t num_decoding() const noexcept;  // of those that run, the ones that wait for their next token
  bool has_work() const noexcept { return num_waiting() > 0 || !running_.empty(); }
  int64_t num_preemptions() const noexcept { return num_preemptions_; }

 private:
  void free_unseen() noexcept;
  void schedule_decodes(int32_t& budget);
  void schedule_drafts(int32_t& budget);
  void schedule_prompts(int32_t budget);
  void gather_prompts();
  request::Sequence* next_newcomer(const request::Sequence* next_prompt) noexcept;
  bool admit(request::Sequence* sequence);
  int64_t num_spare_blocks(const request::Sequence& newcomer) noexcept;
  bool may_read(const request::Sequence& sequence) noexcept;
  void plan_row(request::Sequence* sequence, int32_t num_tokens, int32_t& budget);
  bool preempt_newest();  // false when that one is in flight
  void plan_saves(const request::Sequence* sequence, int32_t num_tokens);
  void arrange_rows();

  EngineLimits limits_;
  cache::BlockManager& blocks_;
  cache::StatePool& states_;
  cache::PrefixCache& cache_;
  Forecast forecast_;                        // of the blocks to be kept for those that run when another is admitted
  FairQueue queue_;                          // those that wait, preempted ones included
  std::vector<request::Sequence*> running_;  // the oldest first
  std::vector<request::Sequence*> prompts_;  // of those, the ones being read, in the order of this step
  StepPlan plan_;
  std::function<void(request::Sequence&)> leave_;
  std::vector<ScheduledSequence> arranged_;  // the rows of plan_ while they are put in order
  std::vector<uint64_t> row_owners_;         // [max_num_seqs] id of the sequence that was last in each row of a batch
  int32_t max_rows_ = INT32_MAX;             // of this step
  bool is_short_of_blocks_ = false;          // in this step, until those in flight have ended
  int32_t num_tries_ = 0;                    // of this step, to admit a sequence that had to wait
  int64_t num_preemptions_ = 0;
};

}  // namespace pagoda::scheduler
