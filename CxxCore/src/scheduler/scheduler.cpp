// Scheduler: builds a StepPlan from decodes first, then prompts and newcomers in one order.
#include "scheduler/scheduler.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/concat.h"

namespace pagoda::scheduler {

using request::Sequence;
using request::SequenceState;

constexpr int32_t kMaxTries = 4;  // newcomers per step that cannot be admitted after all: each costs a cache lookup

Scheduler::Scheduler(const EngineLimits& limits, cache::BlockManager& blocks, cache::StatePool& states,
                     cache::PrefixCache& cache)
    : limits_(limits),
      blocks_(blocks),
      states_(states),
      cache_(cache),
      forecast_(blocks, limits.max_num_seqs, limits.max_model_len) {
  running_.reserve(static_cast<size_t>(limits.max_num_seqs));
  restoring_.reserve(static_cast<size_t>(limits.max_num_seqs));
  prompts_.reserve(static_cast<size_t>(limits.max_num_seqs));
  plan_.sequences.reserve(static_cast<size_t>(limits.max_num_seqs));
  arranged_.reserve(static_cast<size_t>(limits.max_num_seqs));
  index_owners_.assign(static_cast<size_t>(limits.max_num_seqs), 0);
  plan_.preempted.reserve(static_cast<size_t>(limits.max_num_seqs));
  plan_.copies.blocks.reserve(static_cast<size_t>(limits.max_num_seqs));
  plan_.copies.slots.reserve(static_cast<size_t>(limits.max_num_seqs));
  plan_.saves.reserve(static_cast<size_t>(limits.max_state_saves));
}

Status Scheduler::check_admission(int64_t num_prompt_tokens, int64_t max_tokens) const {
  const int64_t total = num_prompt_tokens + max_tokens;
  if (total > limits_.max_model_len) {
    return make_error(StatusCode::context_overflow,
                      concat("the prompt has ", num_prompt_tokens, " tokens and ", max_tokens, " more were requested, ",
                             total, " in total; the context length is ", limits_.max_model_len, " tokens"));
  }
  const int64_t needed = blocks_.blocks_for(total - 1);  // the last token is sampled, never cached
  if (needed > blocks_.num_blocks()) {
    return make_error(StatusCode::context_overflow,
                      concat("the request can need ", needed, " KV blocks of ", blocks_.block_size(),
                             " tokens; the whole pool has ", blocks_.num_blocks()));
  }
  return ok_status();
}

const StepPlan& Scheduler::schedule(int32_t max_tokens, int32_t max_sequences, double now) {
  max_sequences_ = max_sequences;
  now_ = now;
  is_short_of_blocks_ = false;
  plan_.sequences.clear();
  plan_.preempted.clear();
  plan_.copies.blocks.clear();
  plan_.copies.slots.clear();
  plan_.saves.clear();
  int32_t budget = std::min(limits_.max_num_tokens, std::max(max_tokens, num_running()));
  review_waiting();
  find_overdue();
  free_place_for_overdue();
  refused_id_ = 0;
  free_unseen();
  schedule_decodes(budget);
  schedule_drafts(budget);
  if (budget > 0) schedule_prompts(budget);
  arrange();
  return plan_;
}

// Frees blocks that are outside the attention window of every layer.
void Scheduler::free_unseen() noexcept {
  if (limits_.attention_window == 0) return;
  for (Sequence* sequence : running_)
    cache_.free_before(*sequence, std::max(0, sequence->num_computed_tokens - limits_.attention_window + 1));
}

void Scheduler::schedule_decodes(int32_t& budget) {
  for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
    Sequence* sequence = running_[i];
    if (!sequence->decodes() || sequence->is_in_flight) continue;
    if (static_cast<int32_t>(plan_.sequences.size()) >= max_sequences_) return;
    while (!blocks_.grow(sequence->block_table, sequence->num_tokens())) {
      is_short_of_blocks_ = (frees_blocks_soon_ && frees_blocks_soon_()) || !preempt_newest();
      if (is_short_of_blocks_) return;
      if (sequence->state != SequenceState::running) return;  // it was the newest itself, and so the last in the list
    }
    plan_row(sequence, 1, budget);
  }
}

int32_t Scheduler::draft_limit(const Sequence& sequence) const noexcept {
  const int32_t num_tokens = sequence.num_tokens();
  int32_t limit = sequence.max_num_tokens - num_tokens - 1;  // the last token is never computed
  if (limits_.has_state()) {
    const int32_t row = sequence.num_computed_tokens % kStateBlock;
    if (row < kStateBlock - 1) limit = std::min(limit, kStateBlock - 2 - row);
    limit = std::min(limit, cache_.next_save(sequence, num_tokens) - num_tokens - 1);
  }
  return std::max(limit, 0);
}

// Drafts use the capacity left over by the tokens that must be computed; nothing is preempted for them.
void Scheduler::schedule_drafts(int32_t& budget) {
  int32_t rows = limits_.max_draft_rows;
  for (ScheduledSequence& scheduled : plan_.sequences) {
    Sequence& sequence = *scheduled.sequence;
    const auto offered = static_cast<int32_t>(sequence.drafts.size());
    int32_t count = std::min({offered, rows, budget, draft_limit(sequence)});
    if (sequence.num_uncomputed() != 1 || count <= 0) continue;
    if (!blocks_.grow(sequence.block_table, sequence.num_tokens() + count))
      count = static_cast<int32_t>(sequence.block_table.size()) * blocks_.block_size() - sequence.num_tokens();
    scheduled.num_drafts = count;
    rows -= count;
    budget -= count;
  }
}

// Collects the prompts being read, in queue order. The oldest of them comes first in running_.
void Scheduler::gather_prompts() {
  prompts_.clear();
  for (Sequence* sequence : running_) {
    if (sequence->num_uncomputed() <= 1 || sequence->is_in_flight) continue;
    sequence->num_to_compute = sequence->num_uncomputed();
    prompts_.push_back(sequence);
  }
}

void Scheduler::schedule_prompts(int32_t budget) {
  gather_prompts();
  Sequence* oldest = prompts_.empty() ? nullptr : prompts_.front();
  int32_t kept = oldest ? std::min(oldest->num_uncomputed(), std::max(1, budget / kOldestPart)) : 0;  // for the oldest
  std::ranges::sort(prompts_, [this](const Sequence* a, const Sequence* b) { return queue_.precedes(*a, *b); });
  queue_.begin_pass();
  num_tries_ = num_parked_ = 0;
  // The rows so far are of sequences that decode, or the last ones of prompts, which may be scored.
  const auto answers = [](const ScheduledSequence& scheduled) {
    return !scheduled.sequence->is_scored ||
           scheduled.sequence->num_computed_tokens >= scheduled.sequence->num_prompt_tokens;
  };
  num_scored_left_ = std::ranges::any_of(plan_.sequences, answers) ? kScoredBeside : INT32_MAX;
  for (size_t i = 0; budget > kept && static_cast<int32_t>(plan_.sequences.size()) < max_sequences_;) {
    Sequence* sequence = i < prompts_.size() ? prompts_[i] : nullptr;
    if (Sequence* newcomer = next_newcomer(sequence)) {
      if (!admit(newcomer)) continue;
      sequence = newcomer;
    } else if (sequence) {
      ++i;
    } else {
      break;
    }
    if (sequence == oldest) kept = 0;
    int32_t available = budget - kept;
    plan_prompt(sequence, available);
    budget = available + kept;
  }
  if (kept > 0) plan_prompt(oldest, kept);
}

void Scheduler::plan_prompt(Sequence* sequence, int32_t& budget) {
  const int32_t most = sequence->is_scored ? num_scored_left_ : INT32_MAX;
  const int32_t num_tokens = std::min({sequence->num_uncomputed(), most, budget});
  if (num_tokens == 0) return;
  if (sequence->is_scored) num_scored_left_ -= num_tokens;
  plan_row(sequence, num_tokens, budget);
}

// The waiting sequence to admit now, before `next_prompt` gets its tokens; or null.
Sequence* Scheduler::next_newcomer(const Sequence* next_prompt) noexcept {
  // Blocks just freed by a preemption are reserved for running sequences.
  if (!has_place() || !plan_.preempted.empty() || is_short_of_blocks_) return nullptr;
  if (num_tries_ >= kMaxTries || num_parked_ >= kParkedPerStep) return nullptr;
  if (Sequence* next = next_in_turn()) return num_tries_ == 0 ? next : nullptr;
  Sequence* newcomer = queue_.candidate();
  return newcomer && (!next_prompt || queue_.precedes(*newcomer, *next_prompt)) ? newcomer : nullptr;
}

// Blocks that the running sequences and the newcomer will need soon. A newcomer that took the last free ones would be
// preempted a few tokens later, and its prompt would be computed again. Alone it needs only its own.
int64_t Scheduler::num_spare_blocks(const Sequence& newcomer) noexcept {
  if (running_.empty()) return 0;
  forecast_.clear();
  const auto add = [this](const Sequence& s) {
    const int32_t window = limits_.attention_window;
    const bool slides = window > 0 && !s.uses_cache && s.num_tokens() >= window;
    if (!slides) forecast_.add(s);  // otherwise it frees as many as it takes
  };
  add(newcomer);
  for (const Sequence* sequence : running_) add(*sequence);
  return forecast_.num_blocks_wanted();
}

// A newcomer gets the blocks of its whole prompt immediately, so that two of them cannot count on the same free
// blocks.
bool Scheduler::admit(Sequence* sequence) {
  const bool may_run = !sequence->is_restoring && !sequence->is_held;
  if (may_run && follows(*sequence)) return false;
  if (!may_run || !cache_.admit(*sequence, plan_.copies, num_spare_blocks(*sequence))) {
    queue_.skip(*sequence);
    if (may_run && sequence->is_overdue) refused_id_ = sequence->id;
    const bool is_expected = sequence->num_preemptions > 0 && sequence->uses_cache;
    const bool waits_for_space = is_expected && (may_run || sequence->is_restoring);
    num_tries_ = waits_for_space ? kMaxTries : num_tries_ + 1;
    return false;
  }
  if (Sequence* oldest = queue_.oldest(); oldest && oldest != sequence) ++oldest->num_passes;
  queue_.take(sequence);
  sequence->num_passes = 0;
  sequence->state = SequenceState::running;
  ++num_admitted_;
  running_.insert(std::ranges::upper_bound(running_, sequence, is_older), sequence);
  return true;
}

int32_t Scheduler::num_decoding() const noexcept {
  const auto decodes = [](const Sequence* sequence) { return sequence->decodes(); };
  return static_cast<int32_t>(std::ranges::count_if(running_, decodes));
}

bool Scheduler::may_restore(const Sequence& sequence) noexcept {
  if (!sequence.is_restoring || sequence.num_preemptions == 0) return sequence.is_restoring;
  return blocks_.blocks_for(sequence.num_tokens()) + num_spare_blocks(sequence) <= blocks_.num_free();
}

const std::vector<Sequence*>& Scheduler::find_to_restore() noexcept {
  restoring_.clear();
  if (Sequence* next = next_in_turn()) {
    if (may_restore(*next)) restoring_.push_back(next);
    return restoring_;
  }
  queue_.begin_pass();
  const size_t most = std::max<size_t>(1, static_cast<size_t>(limits_.max_num_seqs) - running_.size());
  for (size_t i = 0; i < most; ++i) {
    Sequence* sequence = queue_.candidate();
    if (!sequence) break;
    if (may_restore(*sequence)) restoring_.push_back(sequence);
    queue_.skip(*sequence);
  }
  return restoring_;
}

void Scheduler::plan_row(Sequence* sequence, int32_t num_tokens, int32_t& budget) {
  const int32_t taken = std::min(num_tokens, budget);
  plan_.sequences.push_back({.sequence = sequence, .num_tokens = taken});
  budget -= taken;
  sequence->num_planned_tokens = sequence->num_computed_tokens + taken;
  sequence->waits_since = now_;
  queue_.charge(*sequence, taken);
  plan_saves(sequence, taken);
}

void Scheduler::plan_saves(const Sequence* sequence, int32_t num_tokens) {
  const int32_t end = sequence->num_computed_tokens + num_tokens;
  for (int32_t p = cache_.next_save(*sequence, sequence->num_computed_tokens); p <= end;
       p = cache_.next_save(*sequence, p)) {
    if (static_cast<int32_t>(plan_.saves.size()) == limits_.max_state_saves) return;
    const int32_t slot = cache_.reserve_slot(/*is_awaited=*/p == sequence->last_awaited);
    if (slot < 0) continue;
    plan_.saves.push_back({sequence, p, slot});
  }
}

// A sequence keeps its place in the batch, so that the model's data there (the block tables) stays valid; others
// fill the gaps. When a sequence ends, at most one other moves, instead of all after it.
void Scheduler::arrange() {
  const int32_t num_sequences = static_cast<int32_t>(plan_.sequences.size());
  arranged_.assign(plan_.sequences.size(), {});
  const auto assign = [&](ScheduledSequence scheduled, int32_t index, bool keeps_index) {
    scheduled.keeps_index = keeps_index;
    scheduled.sequence->batch_index = index;
    index_owners_[index] = scheduled.sequence->id;
    arranged_[index] = scheduled;
  };
  const auto is_at_home = [&](const Sequence& s) {
    return s.batch_index >= 0 && s.batch_index < num_sequences && index_owners_[s.batch_index] == s.id;
  };
  for (const ScheduledSequence& scheduled : plan_.sequences)
    if (is_at_home(*scheduled.sequence)) assign(scheduled, scheduled.sequence->batch_index, true);
  int32_t hole = 0;
  for (const ScheduledSequence& scheduled : plan_.sequences) {
    if (is_at_home(*scheduled.sequence)) continue;
    while (arranged_[hole].sequence) ++hole;
    assign(scheduled, hole, false);
  }
  std::swap(plan_.sequences, arranged_);
  std::ranges::sort(plan_.saves, {},
                    [](const PlannedSave& save) { return std::pair(save.sequence->batch_index, save.position); });
}

// Rows already planned in this step belong to older sequences, so a preempted one is never among them.
bool Scheduler::preempt_newest() {
  Sequence* victim = running_.back();
  if (victim->is_in_flight) return false;
  if (plan_.preempted.empty()) forecast_.note_preemption();
  preempt(victim);
  return true;
}

void Scheduler::preempt(Sequence* victim) {
  std::erase(running_, victim);
  if (before_preempting_) before_preempting_(*victim);
  cache_.preempt(*victim);
  victim->num_tokens_before_preemption = victim->num_computed_tokens;
  victim->num_computed_tokens = victim->num_planned_tokens = 0;
  victim->state = SequenceState::waiting;
  ++victim->num_preemptions;
  ++num_preemptions_;
  end_leading(*victim);
  count(*victim);
  queue_.put_back(victim);
  plan_.preempted.push_back(victim);
}

}  // namespace pagoda::scheduler
