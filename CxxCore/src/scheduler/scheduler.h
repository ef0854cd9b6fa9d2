// Scheduler: decides which sequences run in the next step, with how many tokens each, and which to preempt. Pure: no
// tensors, no device.
//
// Policy. Decoding sequences come first, one token each. The remaining tokens of the step, P, go to prompts, both
// those being read and those waiting, in the order of FairQueue: class, share, shortest first, arrival. A sequence
// that must wait for space, for another's prefix or for the disk lets others pass. A shortage of blocks preempts the
// newest sequence of the least urgent class; it is the next of its class and share to be admitted, and no other takes
// the blocks in which its tokens are cached while it waits for space.
//
// Prefixes. What a waiting sequence has left to read is counted again while it waits, as prefixes are cached and
// evicted, and the state it will resume from is not evicted for one that none waits for. Of sequences that share a
// prefix which is not cached, one is admitted and computes it, the leader; the others wait until it has got there.
// When the leader ends early, for any reason, one of them is admitted and leads. A sequence follows at most
// kMaxLeaders.
//
// No request starves. "Older" means overdue, or of a more urgent class, or of the same class and arrived earlier.
// - Reading: the oldest prompt being read gets at least q = max(1, P/4) tokens of every step, or all it has left. So
//   a prompt with n tokens to read, behind k older prompts with N in total, has been read after at most (N + n)/q + k +
//   1 steps; N includes tokens that older ones recompute after a preemption.
// - Admission: the oldest waiting sequence is passed at most kMaxPasses times. Then it is next, and none is admitted
//   before it; it fits when the running ones have ended, if not earlier, because it was checked to fit alone. So one
//   behind k older ones is passed at most (k + 1) kMaxPasses times.
// - Time: the first arrival of each share that has waited kMaxWaitSeconds is overdue, and so is a prompt being read
//   that got no token for as long. Its class and the use of its share then no longer matter: it is the next to be
//   admitted, and the oldest of those being read. One of a share at a time, so that classes keep their meaning when
//   all have to wait for long.
// - Places: an overdue sequence of a share that runs nothing is the next of all overdue ones, and gets the place of the
//   newest running one of the share that runs most, if that runs several. So one client's long answers do not keep
//   another from its first one.
// - Running: the oldest running sequence is never preempted, so it ends, and then the next one is the oldest.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <tuple>
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
constexpr int32_t kMaxLeaders = 4;
constexpr int32_t kScoredBeside =
    8;  // rows of a step that are scored while others decode: each takes about a millisecond
constexpr int32_t kOldestPart = 4;  // the oldest prompt gets one part in this many of a step's prompt tokens

struct ScheduledSequence {
  request::Sequence* sequence = nullptr;
  int32_t num_tokens = 0;    // tokens of sequence->tokens to compute, from num_computed_tokens on
  bool keeps_index = false;  // it had the same place in the batch when it last ran, and no other has had it since
  int32_t num_drafts = 0;    // drafts of sequence->drafts to verify, after its last token
};

struct PlannedSave {  // a copy of a sequence's recurrent state during the step
  const request::Sequence* sequence = nullptr;
  int32_t position = 0;  // number of tokens before it
  int32_t slot = -1;     // reserved
};

struct StepPlan {
  std::vector<ScheduledSequence> sequences;   // in the order of the batch
  cache::PrefixCache::Copies copies;          // executed before the sequences
  std::vector<PlannedSave> saves;             // in the order of the batch
  std::vector<request::Sequence*> preempted;  // back in the queue; their blocks and slots are already free

  int32_t num_drafts() const noexcept {
    int32_t n = 0;
    for (const ScheduledSequence& scheduled : sequences) n += scheduled.num_drafts;
    return n;
  }
  int32_t num_tokens() const noexcept {
    int32_t n = 0;
    for (const ScheduledSequence& scheduled : sequences) n += scheduled.num_tokens + scheduled.num_drafts;
    return n;
  }
};

// The order of preemption, and of what prompts are entitled to.
inline bool is_older(const request::Sequence* a, const request::Sequence* b) noexcept {
  const auto rank = [](const request::Sequence* s) { return std::tuple(!s->is_overdue, s->priority, s->id); };
  return rank(a) < rank(b);
}

constexpr int32_t kParkedPerStep = 32;  // each is a cache lookup and a comparison with every prompt being read
constexpr int32_t kStateBlock = 16;     // tokens between two updates of a recurrent state, which cannot be undone

class Scheduler {
 public:
  Scheduler(const EngineLimits& limits, cache::BlockManager& blocks, cache::StatePool& states,
            cache::PrefixCache& cache);

  // Whether a sequence of `num_prompt_tokens` that may generate `max_tokens` can ever run to its end; the error states
  // the counts.
  Status check_admission(int64_t num_prompt_tokens, int64_t max_tokens) const;

  // `leave` is called with each sequence about to be preempted, and must not throw. It may set is_restoring: then the
  // contents it has stored elsewhere are read back before the sequence is admitted again.
  void set_before_preempting(std::function<void(request::Sequence&)> leave) { before_preempting_ = std::move(leave); }
  // `frees` tells whether blocks that are held now become free without a preemption, while a step runs or none does. A
  // sequence that is short of blocks then waits for them: a preempted one may hold its own until they are copied.
  void set_frees_blocks_soon(std::function<bool()> frees) { frees_blocks_soon_ = std::move(frees); }

  // To the queue; `now` in seconds of the clock that schedule() gets. Changes nothing if it throws.
  void add(request::Sequence* sequence, double now = 0);
  // Removes a finished, cancelled or failed sequence in any state; frees its blocks and slot. Its results stay in the
  // prefix cache if `is_good`.
  void remove(request::Sequence* sequence, bool is_good) noexcept;

  // The next step, of at most `max_tokens` tokens or the number of running sequences, whichever is more. Blocks for
  // every planned token are in the block tables when this returns. Valid until the next call. Sequences in flight are
  // not planned, and `max_sequences` leaves others for the next step. `now` in seconds, of any clock that never goes
  // back.
  const StepPlan& schedule(int32_t max_tokens = INT32_MAX, int32_t max_sequences = INT32_MAX, double now = 0);
  const StepPlan& plan() const noexcept { return plan_; }  // the last plan; incomplete if schedule() threw

  // How many drafts may follow the one token that a sequence must compute. None may complete a block of the recurrent
  // state or pass a position where the state is saved: neither can be undone.
  int32_t draft_limit(const request::Sequence& sequence) const noexcept;
  // Reserves blocks for that many drafts. False, and nothing changed, if there are not enough.
  bool grow(request::Sequence& sequence, int32_t num_drafts) {
    return blocks_.grow(sequence.block_table, sequence.num_tokens() + num_drafts);
  }
  const std::vector<request::Sequence*>& running() const noexcept { return running_; }
  // The waiting sequences by class and arrival, including preempted ones; those that wait for another's prefix last.
  const std::vector<request::Sequence*>& waiting() const noexcept { return queue_.arrivals(); }

  // The waiting sequences that should restore a prefix from a store now, the first of the queue, at most as many as may
  // run beside those that run. A preempted one does so only when there is space for it: earlier, the data would be
  // evicted again.
  const std::vector<request::Sequence*>& find_to_restore() noexcept;
  int32_t num_waiting() const noexcept { return queue_.num_waiting(); }
  int32_t num_running() const noexcept { return static_cast<int32_t>(running_.size()); }
  int32_t num_decoding() const noexcept;  // running sequences that wait for their next token
  bool has_work() const noexcept { return num_waiting() > 0 || !running_.empty(); }
  int64_t num_preemptions() const noexcept { return num_preemptions_; }
  // In the last plan a running sequence got no block.
  bool is_short_of_blocks() const noexcept { return is_short_of_blocks_; }

 private:
  void review_waiting() noexcept;
  void count(request::Sequence& sequence) noexcept;
  void end_leading(request::Sequence& sequence) noexcept;
  bool follows(request::Sequence& newcomer) noexcept;
  void find_overdue() noexcept;
  request::Sequence* next_in_turn() const noexcept;
  bool has_place() const noexcept;  // for one more running sequence, apart from blocks
  void free_place_for_overdue();
  void free_unseen() noexcept;
  void schedule_decodes(int32_t& budget);
  void schedule_drafts(int32_t& budget);
  void schedule_prompts(int32_t budget);
  void gather_prompts();
  request::Sequence* next_newcomer(const request::Sequence* next_prompt) noexcept;
  bool admit(request::Sequence* sequence);
  int64_t num_spare_blocks(const request::Sequence& newcomer) noexcept;
  bool may_restore(const request::Sequence& sequence) noexcept;
  void plan_prompt(request::Sequence* sequence, int32_t& budget);
  void plan_row(request::Sequence* sequence, int32_t num_tokens, int32_t& budget);
  bool preempt_newest();  // false if the newest is in flight
  void preempt(request::Sequence* victim);
  void plan_saves(const request::Sequence* sequence, int32_t num_tokens);
  void arrange();

  EngineLimits limits_;
  cache::BlockManager& blocks_;
  cache::StatePool& states_;
  cache::PrefixCache& cache_;
  Forecast forecast_;                          // blocks to reserve for running sequences when another is admitted
  FairQueue queue_;                            // waiting sequences, including preempted ones
  std::vector<request::Sequence*> running_;    // the oldest first
  std::vector<request::Sequence*> restoring_;  // of find_to_restore()
  std::vector<request::Sequence*> prompts_;    // the running ones being read, in the order of this step
  StepPlan plan_;
  std::function<void(request::Sequence&)> before_preempting_;
  std::function<bool()> frees_blocks_soon_;
  std::vector<ScheduledSequence> arranged_;  // the sequences of plan_ while they are being ordered
  std::vector<uint64_t> index_owners_;       // [max_num_seqs] id of the sequence that last had each place of a batch
  int32_t max_sequences_ = INT32_MAX;        // of this step
  bool is_short_of_blocks_ = false;          // in this step, until sequences in flight or copies have ended
  int32_t num_tries_ = 0;                    // in this step, to admit a sequence that had to wait
  int32_t num_parked_ = 0;                   // in this step
  uint64_t refused_id_ = 0;                  // the overdue sequence that the last step had no blocks for, or 0
  double now_ = 0, next_check_ = 0;          // seconds: of this step, and when to look for overdue sequences again
  size_t next_review_ = 0;                   // index in waiting() of the sequence to review next
  int64_t num_admitted_ = 0;                 // sequences, ever
  int32_t num_scored_left_ = 0;              // rows of this step whose logits may be scored
  int64_t num_preemptions_ = 0;
};

}  // namespace pagoda::scheduler
