// EngineCore: plan -> batch -> forward -> sample -> commit.
#include "engine/engine_core.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "device/support.h"
#include "engine/batch_builder.h"

namespace pagoda::engine {

using request::Sequence;

static double seconds(Clock::duration time) noexcept { return std::chrono::duration<double>(time).count(); }

static scheduler::SchedulerLimits scheduler_limits(const CoreConfig& config) {
  return {.max_num_seqs = config.sizes.max_num_seqs,
          .max_num_batched_tokens = config.sizes.max_num_tokens,
          .max_model_len = config.max_model_len,
          .has_state = config.has_state,
          .max_state_saves = config.sizes.max_state_saves,
          .max_draft_rows = config.max_draft_rows,
          .window = config.attention_window};
}

EngineCore::EngineCore(model::Model& model, CoreConfig config)
    : model_(model),
      config_(std::move(config)),
      thinking_format_(find_thinking_format(config_.tokenizer.get())),
      grammars_(config_.tokenizer, config_.vocab_size, config_.eos_token_ids),
      masks_(config_.tokenizer, config_.has_mask_thread && model_.max_in_flight() <= 1, config_.before_mask),
      blocks_(config_.sizes.num_kv_blocks, config_.block_size),
      states_(config_.sizes.num_state_slots),
      cache_(blocks_, states_, config_.has_state, config_.prefix_cache ? config_.max_checkpoints : 0),
      scheduler_(scheduler_limits(config_), blocks_, states_, cache_),
      budget_(config_.step_times, config_.sizes.max_num_tokens),
      sampler_(config_.vocab_size) {
  if (config_.disk && config_.prefix_cache && (!config_.has_state || config_.max_checkpoints > 0))
    disk_.emplace(model_, cache_, config_.disk);
  reserve_batch(batch_, config_.sizes);
  if (model_.max_in_flight() > 1) flights_.resize(static_cast<size_t>(model_.max_in_flight()));
  num_losses_ = model_.num_losses();
  if (config_.uses_head) reserve_batch(draft_batch_, config_.sizes);
  const int32_t num_drafted = model_.draft_vocab_size();
  if (config_.uses_head && num_drafted > 0 && num_drafted < config_.vocab_size) draft_sampler_.emplace(num_drafted);
  scored_rows_.reserve(static_cast<size_t>(config_.sizes.max_num_tokens));
  score_rows_.reserve(static_cast<size_t>(config_.sizes.max_logits_rows));
  awaited_.reserve(static_cast<size_t>(config_.sizes.max_num_seqs));
  ahead_.reserve(grammar::MaskWorker::kMaxAhead);
  draft_rows_.reserve(static_cast<size_t>(config_.sizes.max_num_seqs));
  offers_.reserve(static_cast<size_t>(config_.sizes.max_num_seqs));
  offer_requests_.reserve(static_cast<size_t>(config_.sizes.max_num_seqs));
  publish_stats();
}

// Short enough to be made without memory.
static Status out_of_memory() noexcept { return {StatusCode::out_of_memory, "out of memory"}; }

// Without its message where there is no memory for it.
static Status copy_of(const Status& status) noexcept {
  try {
    return status;
  } catch (const std::bad_alloc&) {
    return {status.code, {}};
  }
}

// Why a step failed. No message is built when memory ran out.
static Status status_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    try {
      return make_error(StatusCode::internal, std::string("a step failed: ") + error.what());
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }
}

// The last event of a request that was never queued.
static void refuse(const ActiveRequest& request, Status status) noexcept {
  Event event;
  event.request_id = request.sequence.id;
  event.kind = EventKind::finished;
  event.finish_reason = FinishReason::error;
  event.usage = request.usage();
  event.status = std::move(status);
  request.callback(request.context, &event);
}

void EngineCore::add(std::unique_ptr<ActiveRequest> request) noexcept {
  const uint64_t id = request->sequence.id;
  request->sequence.is_reading = disk_.has_value();
  if (Status status = ready(); !status.is_ok()) return refuse(*request, std::move(status));
  try {
    if (request->grammar) request->guide = masks_.begin(request->grammar);
    requests_.try_emplace(id);
    scheduler_.add(&request->sequence);  // changes nothing when it throws
  } catch (const std::exception&) {
    requests_.erase(id);
    return refuse(*request, status_of_exception());
  }
  num_scored_requests_ += request->is_scored();
  requests_.find(id)->second = std::move(request);
  publish_stats();
}

void EngineCore::cancel(uint64_t id) noexcept {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  if (found->second->sequence.is_in_flight) found->second->is_cancelled = true;  // when its step has landed
  else finish(*found->second, FinishReason::cancelled, ok_status());
}

void EngineCore::end_all(FinishReason reason, const Status& status) noexcept {
  drop_flights();
  while (!requests_.empty()) finish(*requests_.begin()->second, reason, copy_of(status));
}

void EngineCore::step() noexcept {
  if (is_dead_) return end_all(FinishReason::error, fault_);
  if (!flights_.empty()) return step_in_flight();
  const Clock::time_point begin = Clock::now();
  begin_mask_wait(begin);
  settle_masks();
  read_next();
  draft_tokens();
  const scheduler::StepPlan* plan = schedule();
  if (!plan) return;
  if (plan->rows.empty()) return wait_for_masks();
  Status status = forward(*plan, begin);
  const Clock::time_point end = Clock::now();
  if (status.is_ok()) status = score();
  if (status.is_ok()) status = pool(*plan);
  note_result(status);
  const int32_t num_drafts = plan->num_drafts(), num_rows = batch_.num_tokens(), num_seqs = batch_.num_seqs();
  const int64_t num_before = num_generated_tokens_;
  const bool is_watched = activity_.is_open();
  StepRecord record = is_watched ? ActivityLog::describe(*plan) : StepRecord();
  begin_mask_wait(Clock::now());
  if (status.is_ok()) commit(*plan);
  else fail_rows(*plan, status);
  sample_time_ += Clock::now() - end;
  if (status.is_ok() && num_rows == num_seqs + num_drafts)  // none of them a prompt's
    policy_.note_step(num_seqs, num_rows, static_cast<int32_t>(num_generated_tokens_ - num_before),
                      seconds(Clock::now() - begin), draft_seconds_, num_draft_steps_);
  if (is_watched) {
    record.step_index = num_steps_;
    record.seconds = seconds(Clock::now() - begin);
    activity_.add_step(record);
  }
  publish_stats();
}

// Blocks that cannot be read, for whatever reason, are computed.
void EngineCore::read_next() noexcept {
  Sequence* next = scheduler_.next_reader();
  if (!next) return;
  try {
    next->is_reading = disk_->read_for(*next);
  } catch (const std::exception&) {
    next->is_reading = false;
  }
}

// Null when there is no memory for a plan: then nothing is known of what it left half done, so all end.
const scheduler::StepPlan* EngineCore::schedule() noexcept {
  num_saves_done_ = 0;
  try {
    return &scheduler_.schedule(budget_.max_tokens(scheduler_.num_decoding()));
  } catch (const std::exception&) {
    give_back_saves(scheduler_.plan(), nullptr);
    end_all(FinishReason::error, out_of_memory());
    return nullptr;
  }
}

Status EngineCore::forward(const scheduler::StepPlan& plan, Clock::time_point begin) noexcept {
  try {
    build_batch(plan, config_.block_size, config_.sizes.max_blocks_per_seq, config_.has_state, batch_);
    batch_.feeds_head = config_.uses_head;
    find_scored_rows(plan);
    batch_.keeps_states = !scored_rows_.empty() || std::ranges::any_of(plan.rows, [this](const auto& row) {
      return requests_.at(row.sequence->id)->is_pooled();
    });
    ask_for_tokens(plan);
    const Clock::time_point now = Clock::now();
    for (const scheduler::ScheduledSequence& row : plan.rows) {
      ActiveRequest& request = *requests_.at(row.sequence->id);
      if (!request.first_scheduled) request.first_scheduled = now;
    }
    ++num_steps_;
    Status status = model_.forward(batch_);
    const Clock::time_point end = Clock::now();
    plan_time_ += now - begin;
    forward_time_ += end - now;
    budget_.note(batch_.num_tokens(), batch_.num_seqs() + plan.num_drafts(), seconds(end - now));
    return status;
  } catch (const std::exception&) {
    return status_of_exception();
  }
}

// A device that failed for good, or that fails step after step, is a fault of the engine's and not of a request.
void EngineCore::note_result(const Status& status) noexcept {
  constexpr int32_t kMaxFailedSteps = 3;
  if (status.is_ok()) {
    num_failed_steps_ = 0;
    fault_ = {};
    return;
  }
  if (status.code != StatusCode::device_error) return;
  is_dead_ = config_.device && !device::health(*config_.device).is_ok();
  if (is_dead_ || ++num_failed_steps_ >= kMaxFailedSteps) fault_ = copy_of(status);
}

// A failed step leaves the caches of its sequences in doubt, so these end; the others continue.
void EngineCore::fail_rows(const scheduler::StepPlan& plan, const Status& status) noexcept {
  give_back_saves(plan, nullptr);
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    Status own = copy_of(status);
    // Errors of the request were reported when it was submitted; this one is the engine's.
    if (own.code == StatusCode::invalid_argument || own.code == StatusCode::unsupported)
      own.code = StatusCode::internal;
    finish(*requests_.at(row.sequence->id), FinishReason::error, std::move(own));
  }
}

// A row that there is no memory for ends; it takes no other with it.
void EngineCore::commit(const scheduler::StepPlan& plan) noexcept {
  size_t logits_row = 0;
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    Sequence& sequence = *row.sequence;
    sequence.num_computed_tokens += row.num_tokens;
    sequence.has_fresh_slot = false;
    num_computed_tokens_ += row.num_tokens;
    ActiveRequest& request = *requests_.at(sequence.id);
    const bool is_sampled = sequence.num_uncomputed() == 0;
    const size_t own_row = logits_row;
    if (is_sampled) logits_row += static_cast<size_t>(1 + row.num_drafts);
    try {
      publish(sequence, plan);
      if (request.is_cancelled) {
        finish(request, FinishReason::cancelled, ok_status());
        continue;
      }
      if (request.score_end) {
        const FinishReason reason = request.score_end->is_ok() ? FinishReason::stop : FinishReason::error;
        finish(request, reason, Status(*request.score_end));
        continue;
      }
      if (is_sampled && request.is_pooled()) finish(request, FinishReason::stop, ok_status());
      else if (is_sampled) commit_tokens(request, row.num_drafts, own_row);
    } catch (const std::exception&) {
      give_back_saves(plan, &sequence);
      finish(request, FinishReason::error, status_of_exception());
    }
  }
}

// A row's own sample decides: the row after it counts only if that is the draft it was computed from.
void EngineCore::commit_tokens(ActiveRequest& request, int32_t num_drafts, size_t logits_row) {
  Sequence& sequence = request.sequence;
  request.num_drafted += num_drafts;
  speculation_.num_draft_steps += num_drafts > 0;
  speculation_.num_drafted_tokens += num_drafts;
  for (int32_t i = 0;; ++i) {
    if (!has_mask(request)) {
      note_drafts(request, num_drafts, i);
      sequence.drafts.clear();
      return hold_row(request, logits_row + static_cast<size_t>(i));
    }
    if (request.has_begun && request.place.must_end)
      return finish(request, FinishReason::stop, ok_status());  // that was not known before
    if (!commit_token(request, logits_row + static_cast<size_t>(i))) return;
    if (i == num_drafts || sequence.tokens.back() != sequence.drafts[static_cast<size_t>(i)]) {
      note_drafts(request, num_drafts, i);
      return sequence.drafts.clear();
    }
    ++request.num_accepted;
    ++speculation_.num_accepted_tokens;
    ++speculation_.num_accepted_at[static_cast<size_t>(i)];
    ++sequence.num_computed_tokens;
    ++num_computed_tokens_;
    cache_.publish(sequence);
  }
}

// Saves lie in the order of the rows.
void EngineCore::publish(Sequence& sequence, const scheduler::StepPlan& plan) {
  cache_.publish(sequence);
  while (num_saves_done_ < plan.saves.size() && plan.saves[num_saves_done_].sequence == &sequence) {
    const scheduler::PlannedSave& save = plan.saves[num_saves_done_];
    const bool is_new = cache_.add_checkpoint(sequence, save.position, save.slot);
    ++num_saves_done_;
    if (is_new && disk_) disk_->write(sequence, save.position, save.slot);
  }
}

// Of `sequence`, whose saves are next, or of all rows that are not committed yet.
void EngineCore::give_back_saves(const scheduler::StepPlan& plan, const Sequence* sequence) noexcept {
  for (; num_saves_done_ < plan.saves.size(); ++num_saves_done_) {
    const scheduler::PlannedSave& save = plan.saves[num_saves_done_];
    if (sequence && save.sequence != sequence) return;
    cache_.give_back_slot(save.slot);
  }
}

bool EngineCore::commit_token(ActiveRequest& request, size_t logits_row, std::span<const float> held) {
  Status status = sample(request, logits_row, held);
  if (!status.is_ok()) return finish(request, FinishReason::error, std::move(status)), false;
  const int32_t token = sampled_.token_id;
  if (!request.first_token) request.first_token = Clock::now();
  request.sequence.tokens.push_back(token);
  request.count_output(token);
  const bool is_last = follow(request, token);
  ++num_generated_tokens_;

  const bool is_stop_id = std::ranges::find(request.stop_ids, token) != request.stop_ids.end();
  event_.text.clear();
  const bool is_stop_string = !is_stop_id && append_text(request, token);
  event_.request_id = request.sequence.id;
  event_.kind = EventKind::token;
  event_.token_id = token;
  event_.has_logprob = request.params.num_top_logprobs >= 0;
  event_.logprob = sampled_.logprob;
  event_.top_logprobs.assign(sampled_.top_logprobs.begin(), sampled_.top_logprobs.end());
  event_.finish_reason = FinishReason::none;
  request.callback(request.context, &event_);

  const bool is_stop = is_stop_id || is_stop_string || is_last;
  if (!is_stop && request.sequence.num_tokens() < request.sequence.max_num_tokens) return true;
  if (!is_stop && request.is_awaited && !request.place.is_known()) {  // whether the document ends here is not known yet
    request.sequence.drafts.clear();
    request.sequence.is_held = true;
    return false;
  }
  finish(request, is_stop ? FinishReason::stop : FinishReason::length, ok_status());
  return false;
}

// The grammar and the thinking advance by the token. True when it ends the document and nothing can follow; that may
// also become known later, see resume().
bool EngineCore::follow(ActiveRequest& request, int32_t token_id) {
  const bool was_thinking = request.thinking.is_open();
  request.thinking.note(token_id);
  if (!request.guide || was_thinking) return false;
  request.place = {};
  request.has_begun = true;
  masks_.accept(*request.guide, token_id);
  if (find_place(request, Clock::time_point())) return request.place.must_end;
  await_place(request);
  return false;
}

bool EngineCore::append_text(ActiveRequest& request, int32_t token_id) {
  if (!request.detokenizer) return false;
  std::string piece;
  request.detokenizer->push(token_id, piece);
  const bool armed = request.num_generated() >= request.params.min_tokens;
  return request.stop_strings.push(piece, armed, event_.text);
}

void EngineCore::leave_to_disk(const Sequence& sequence) noexcept {
  if (!disk_ || !sequence.uses_cache || sequence.num_computed_tokens == 0) return;
  try {
    disk_->write(sequence, sequence.num_computed_tokens, sequence.state_slot);
  } catch (const std::exception&) {  // what is not written is computed again
  }
}

// Sends the last event and forgets the request; `request` is gone afterwards.
void EngineCore::finish(ActiveRequest& request, FinishReason reason, Status status) noexcept {
  Event event;
  event.request_id = request.sequence.id;
  event.kind = EventKind::finished;
  try {
    if (request.detokenizer && request.stop_strings.matched().empty()) {
      std::string rest;
      request.detokenizer->finish(rest);
      request.stop_strings.push(rest, /*armed=*/false, event.text);
      request.stop_strings.finish(event.text);
    }
    event.stop_string = request.stop_strings.matched();
    if (request.is_pooled() && reason == FinishReason::stop) event.embedding = request.embedding();
  } catch (const std::bad_alloc&) {
    event.text.clear();
    reason = FinishReason::error;
    status = out_of_memory();
  }
  event.finish_reason = reason;
  event.usage = request.usage();
  event.timings = request.timings(Clock::now());
  event.status = std::move(status);
  num_scored_requests_ -= request.is_scored();
  const bool is_good = reason != FinishReason::error && !request.sequence.is_in_flight;
  if (is_good) leave_to_disk(request.sequence);
  if (is_good && request.lookup)
    past_texts_.add(request.sequence.cache_salt,
                    std::span(request.sequence.tokens).last(static_cast<size_t>(request.num_generated())));
  scheduler_.remove(&request.sequence, is_good);
  const EventCallback callback = request.callback;
  void* context = request.context;
  if (!request.held_logits.empty()) --num_held_rows_;
  requests_.erase(event.request_id);
  publish_stats();
  callback(context, &event);
}

EngineStats EngineCore::stats() const {
  std::string fault = model_.ready().message;
  std::lock_guard lock(stats_mutex_);
  EngineStats stats = stats_;
  if (stats.fault.empty()) stats.fault = std::move(fault);
  return stats;
}

void EngineCore::publish_stats() noexcept {
  DiskStats disk;
  std::string fault;
  try {
    if (!fault_.is_ok()) fault = fault_.message.empty() ? "device error" : fault_.message;
    if (disk_) disk = disk_->stats();
  } catch (const std::bad_alloc&) {  // what has words stays away
  }
  activity_.set_lanes(scheduler_);
  const grammar::MaskStats masks = masks_.stats();
  std::lock_guard lock(stats_mutex_);
  const cache::PrefixIndex& index = cache_.index();
  const cache::PrefixCacheStats& cache = cache_.stats();
  const int32_t num_running_slots = states_.num_slots() - index.max_checkpoints();
  stats_ = {.num_waiting = scheduler_.num_waiting(),
            .num_running = scheduler_.num_running(),
            .num_free_blocks = blocks_.num_free(),
            .num_blocks = blocks_.num_blocks(),
            .num_free_state_slots = states_.num_free() - index.max_checkpoints() + index.num_checkpoints(),
            .num_state_slots = num_running_slots,
            .num_steps = num_steps_,
            .num_preemptions = scheduler_.num_preemptions(),
            .num_computed_tokens = num_computed_tokens_,
            .num_generated_tokens = num_generated_tokens_,
            .plan_seconds = seconds(plan_time_),
            .forward_seconds = seconds(forward_time_),
            .sample_seconds = seconds(sample_time_),
            .num_masks = masks.num_masks,
            .num_late_masks = num_late_masks_,
            .mask_seconds = masks.mask_seconds,
            .fault = std::move(fault),
            .cache = {.num_lookups = cache.num_lookups,
                      .num_hits = cache.num_hits,
                      .num_cached_tokens = cache.num_cached_tokens,
                      .num_recomputed_tokens = cache.num_recomputed_tokens,
                      .num_cached_blocks = index.num_nodes(),
                      .num_block_evictions = blocks_.num_evictions(),
                      .num_checkpoints = index.num_checkpoints(),
                      .max_checkpoints = index.max_checkpoints(),
                      .checkpoint_bytes = index.num_checkpoints() * config_.state_slot_bytes,
                      .num_checkpoint_evictions = index.num_checkpoint_evictions(),
                      .num_checkpoint_hits = index.num_checkpoint_hits(),
                      .last_near_miss = cache.last_near_miss},
            .speculation = speculation_,
            .disk = std::move(disk)};
}

}  // namespace pagoda::engine
