// EngineCore: plan -> batch -> forward -> sample -> commit.
#include "engine/engine_core.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/batch_builder.h"

namespace pagoda::engine {

using request::Sequence;

static double seconds(Clock::duration time) noexcept { return std::chrono::duration<double>(time).count(); }

static scheduler::SchedulerLimits scheduler_limits(const CoreConfig& config) {
  return {.max_num_seqs = config.sizes.max_num_seqs,
          .max_num_batched_tokens = config.sizes.max_num_tokens,
          .max_model_len = config.max_model_len,
          .has_state = config.has_state,
          .max_state_saves = config.sizes.max_state_saves};
}

EngineCore::EngineCore(model::Model& model, CoreConfig config)
    : model_(model),
      config_(std::move(config)),
      thinking_format_(find_thinking_format(config_.tokenizer.get())),
      grammars_(config_.tokenizer, config_.vocab_size, config_.eos_token_ids),
      blocks_(config_.sizes.num_kv_blocks, config_.block_size),
      states_(config_.sizes.num_state_slots),
      cache_(blocks_, states_, config_.has_state, config_.prefix_cache ? config_.max_checkpoints : 0),
      scheduler_(scheduler_limits(config_), blocks_, states_, cache_),
      budget_(config_.step_times, config_.sizes.max_num_tokens),
      sampler_(config_.vocab_size) {
  if (config_.disk && config_.prefix_cache && (!config_.has_state || config_.max_checkpoints > 0))
    disk_.emplace(model_, cache_, config_.disk);
  reserve_batch(batch_, config_.sizes);
  publish_stats();
}

void EngineCore::add(std::unique_ptr<ActiveRequest> request) {
  if (request->grammar) request->matcher.emplace(request->grammar);
  request->sequence.is_reading = disk_.has_value();
  scheduler_.add(&request->sequence);
  const uint64_t id = request->sequence.id;
  requests_.emplace(id, std::move(request));
  publish_stats();
}

void EngineCore::cancel(uint64_t id) {
  const auto found = requests_.find(id);
  if (found != requests_.end()) finish(*found->second, FinishReason::cancelled, ok_status());
}

void EngineCore::end_all(FinishReason reason, const Status& status) {
  while (!requests_.empty()) finish(*requests_.begin()->second, reason, status);
}

void EngineCore::step() {
  const Clock::time_point begin = Clock::now();
  if (Sequence* reader = scheduler_.next_reader()) reader->is_reading = disk_->read_for(*reader);
  const scheduler::StepPlan& plan = scheduler_.schedule(budget_.max_tokens(scheduler_.num_decoding()));
  if (plan.rows.empty()) return;
  build_batch(plan, config_.block_size, config_.sizes.max_blocks_per_seq, config_.has_state, batch_);
  ask_for_tokens(plan);
  const Clock::time_point now = Clock::now();
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    ActiveRequest& request = *requests_.at(row.sequence->id);
    if (!request.first_scheduled) request.first_scheduled = now;
  }
  ++num_steps_;
  const Status status = model_.forward(batch_);
  const Clock::time_point end = Clock::now();
  plan_time_ += now - begin;
  forward_time_ += end - now;
  budget_.note(batch_.num_tokens(), batch_.num_seqs(), seconds(end - now));
  if (status.is_ok()) commit(plan);
  else fail_rows(plan, status);
  sample_time_ += Clock::now() - end;
  publish_stats();
}

// A failed step leaves the caches of its sequences in doubt, so these end; the others go on.
void EngineCore::fail_rows(const scheduler::StepPlan& plan, const Status& status) {
  for (const scheduler::PlannedSave& save : plan.saves) cache_.give_back_slot(save.slot);
  for (const scheduler::ScheduledSequence& row : plan.rows)
    finish(*requests_.at(row.sequence->id), FinishReason::error, status);
}

void EngineCore::commit(const scheduler::StepPlan& plan) {
  size_t logits_row = 0;
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    Sequence& sequence = *row.sequence;
    ActiveRequest& request = *requests_.at(sequence.id);
    sequence.num_computed_tokens += row.num_tokens;
    sequence.has_fresh_slot = false;
    num_computed_tokens_ += row.num_tokens;
    publish(sequence, plan);
    if (sequence.num_uncomputed() > 0) continue;
    commit_token(request, logits_row++);
  }
}

void EngineCore::publish(Sequence& sequence, const scheduler::StepPlan& plan) {
  cache_.publish(sequence);
  for (const scheduler::PlannedSave& save : plan.saves)
    if (save.sequence == &sequence && cache_.add_checkpoint(sequence, save.position, save.slot) && disk_)
      disk_->write(sequence, save.position, save.slot);
}

void EngineCore::commit_token(ActiveRequest& request, size_t logits_row) {
  Status status = sample(request, logits_row);
  if (!status.is_ok()) return finish(request, FinishReason::error, std::move(status));
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

  if (is_stop_id || is_stop_string || is_last) return finish(request, FinishReason::stop, ok_status());
  if (request.sequence.num_tokens() >= request.sequence.max_num_tokens)
    finish(request, FinishReason::length, ok_status());
}

// The grammar and the thinking go on with the token. True when it ends the document and nothing can follow.
bool EngineCore::follow(ActiveRequest& request, int32_t token_id) {
  const bool was_thinking = request.thinking.is_open();
  request.thinking.note(token_id);
  if (!request.matcher || was_thinking) return false;
  return request.matcher->accept(config_.tokenizer->token_bytes(token_id)) && request.matcher->must_end();
}

bool EngineCore::append_text(ActiveRequest& request, int32_t token_id) {
  if (!request.detokenizer) return false;
  std::string piece;
  request.detokenizer->push(token_id, piece);
  const bool armed = request.num_generated() >= request.params.min_tokens;
  return request.stop_strings.push(piece, armed, event_.text);
}

// Sends the last event and forgets the request; `request` is gone afterwards.
void EngineCore::finish(ActiveRequest& request, FinishReason reason, Status status) {
  Event event;
  if (request.detokenizer && request.stop_strings.matched().empty()) {
    std::string rest;
    request.detokenizer->finish(rest);
    request.stop_strings.push(rest, /*armed=*/false, event.text);
    request.stop_strings.finish(event.text);
  }
  event.request_id = request.sequence.id;
  event.kind = EventKind::finished;
  event.finish_reason = reason;
  event.stop_string = request.stop_strings.matched();
  event.usage = request.usage();
  event.timings = request.timings(Clock::now());
  event.status = std::move(status);
  const bool is_good = reason != FinishReason::error;
  const Sequence& sequence = request.sequence;
  if (disk_ && is_good && sequence.uses_cache && sequence.num_computed_tokens > 0)
    disk_->write(sequence, sequence.num_computed_tokens, sequence.state_slot);
  scheduler_.remove(&request.sequence, is_good);
  const EventCallback callback = request.callback;
  void* context = request.context;
  requests_.erase(event.request_id);
  publish_stats();
  callback(context, &event);
}

EngineStats EngineCore::stats() const {
  std::lock_guard lock(stats_mutex_);
  return stats_;
}

void EngineCore::publish_stats() {
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
            .disk = disk_ ? disk_->stats() : DiskStats{}};
}

}  // namespace pagoda::engine
