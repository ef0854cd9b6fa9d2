// EngineCore: adds and cancels requests; a step plans, builds its batch and runs the model.
#include "engine/core/engine_core.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "device/support.h"
#include "engine/batch_builder.h"
#include "engine/step_status.h"

namespace pagoda::engine {

using request::Sequence;

// Events of one step: tokens, accepted drafts, and the end of every request. Scored prompts may produce more.
static size_t most_events(const CoreConfig& config) noexcept {
  return static_cast<size_t>(config.limits.max_num_seqs) * static_cast<size_t>(2 + config.max_drafts);
}

EngineCore::EngineCore(model::Model& model, CoreConfig config)
    : model_(model),
      config_(std::move(config)),
      thinking_format_(find_thinking_format(config_.tokenizer.get(), config_.vocab_size)),
      grammars_(config_.tokenizer, config_.vocab_size, config_.eos_token_ids),
      masks_(config_.tokenizer, config_.has_mask_thread && model_.max_in_flight() <= 1, config_.before_mask),
      blocks_(config_.limits.num_kv_blocks, config_.limits.block_size),
      states_(config_.limits.num_state_slots),
      cache_(blocks_, states_, config_.limits.has_state(), config_.prefix_cache ? config_.limits.num_checkpoints : 0),
      scheduler_(config_.limits, blocks_, states_, cache_),
      budget_(config_.step_times, config_.limits.max_num_tokens),
      copier_(model_, cache_),
      sampler_(config_.vocab_size),
      images_(config_.tower, config_.image_cache_bytes, config_.image_files),
      outbox_(model_.launches_early() ? most_events(config_) : 0),
      policy_(config_.policy ? *config_.policy : speculate::Policy()) {
  open_tiers();
  reserve_batch(batch_, config_.limits);
  if (model_.max_in_flight() > 1) flights_.resize(static_cast<size_t>(model_.max_in_flight()));
  num_losses_ = model_.num_losses();
  if (config_.uses_head) reserve_batch(draft_batch_, config_.limits);
  if (model_.samples()) {
    draw_lists_.emplace(config_.vocab_size, config_.limits.max_logits_rows);
    draw_lists_->reserve(batch_.edits, batch_.masks);
    if (config_.uses_head) draw_lists_->reserve(draft_batch_.edits, draft_batch_.masks);
  }
  const int32_t num_drafted = model_.draft_vocab_size();
  if (config_.uses_head && num_drafted > 0 && num_drafted < config_.vocab_size) draft_sampler_.emplace(num_drafted);
  if (config_.num_sample_threads > 1)
    row_sampler_.emplace(config_.vocab_size, config_.limits.max_num_seqs, config_.num_sample_threads);
  scored_rows_.reserve(static_cast<size_t>(config_.limits.max_num_tokens));
  score_rows_.reserve(static_cast<size_t>(config_.limits.max_logits_rows));
  awaited_.reserve(static_cast<size_t>(config_.limits.max_num_seqs));
  ahead_.reserve(grammar::MaskWorker::kMaxAhead);
  draft_rows_.reserve(static_cast<size_t>(config_.limits.max_num_seqs));
  offers_.reserve(static_cast<size_t>(config_.limits.max_num_seqs));
  offer_requests_.reserve(static_cast<size_t>(config_.limits.max_num_seqs));
  publish_stats();
}

double EngineCore::now() const { return config_.clock ? config_.clock() : seconds(Clock::now().time_since_epoch()); }

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
  request->sequence.is_reading = tiers_.has_value();
  if (Status status = ready(); !status.is_ok()) return refuse(*request, std::move(status));
  try {
    if (request->row_callback) shown_row_.resize(static_cast<size_t>(config_.vocab_size));
    if (request->grammar) request->guide = masks_.begin(request->grammar);
    requests_.try_emplace(id);
    if (find_images(*request)) scheduler_.add(&request->sequence, now());  // changes nothing if it throws
    else unseen_.push_back(id);
  } catch (const std::exception&) {
    requests_.erase(id);
    return refuse(*request, status_of_exception());
  }
  num_scored_requests_ += request->is_scored();
  if (!request->prediction.empty()) past_texts_.add(request->sequence.cache_salt, request->prediction);
  request->prediction = {};
  requests_.find(id)->second = std::move(request);
  publish_stats();
}

void EngineCore::cancel(uint64_t id) noexcept {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  if (found->second->sequence.is_in_flight) found->second->is_cancelled = true;  // ends when its step has finished
  else finish(*found->second, FinishReason::cancelled, ok_status());
  outbox_.send_all();
}

void EngineCore::end_all(FinishReason reason, const Status& status) noexcept {
  drop_flights();
  while (!requests_.empty()) finish(*requests_.begin()->second, reason, copy_of(status));
  outbox_.send_all();
}

// Of a step without prompts: a sequence's rows complete a block only if it is the first of them.
static int32_t num_state_updates(const model::ForwardBatch& batch) noexcept {
  const auto completes_block = [&](int32_t first_row) {
    return (batch.positions[static_cast<size_t>(first_row)] + 1) % scheduler::kStateBlock == 0;
  };
  return static_cast<int32_t>(
      std::ranges::count_if(std::span(batch.cu_seqlens).first(static_cast<size_t>(batch.num_seqs())), completes_block));
}

void EngineCore::step() noexcept {
  if (is_dead_) return end_all(FinishReason::error, fault_);
  if (!flights_.empty()) return step_in_flight();
  advance_images();
  if (!scheduler_.has_work()) return outbox_.send_all();
  const Clock::time_point begin = Clock::now();
  begin_mask_wait(begin);
  settle_masks();
  Sequence* reader = read_next();
  draft_tokens();
  const scheduler::StepPlan* plan = schedule();
  if (!plan) return;
  // Not admitted after all: the prefixes it has read may be evicted by the next step.
  if (reader && reader->num_preemptions > 0 && reader->state == request::SequenceState::waiting)
    reader->is_reading = true;
  has_planned_ = !plan->rows.empty();
  if (!has_planned_) {
    outbox_.send_all();
    const bool is_stuck = scheduler_.num_running() == 0 && awaited_.empty() && num_rows_with_owners_ == 0;
    if (is_stuck && drop_oldest_pin()) return;
    return wait_for_masks();
  }
  publish_admissions();
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
  if (status.is_ok() && num_rows == num_seqs + num_drafts)  // no row belongs to a prompt
    policy_.note_step({.num_sequences = num_seqs,
                       .num_rows = num_rows,
                       .num_tokens = static_cast<int32_t>(num_generated_tokens_ - num_before),
                       .num_updates = config_.limits.has_state() ? num_state_updates(batch_) : 0,
                       .seconds = seconds(Clock::now() - begin),
                       .draft_seconds = draft_seconds_,
                       .num_draft_steps = num_draft_steps_,
                       .feeds_head = batch_.feeds_head && !batch_.skips_head_rows});
  if (is_watched) {
    record.step_index = num_steps_;
    record.seconds = seconds(Clock::now() - begin);
    activity_.add_step(record);
  }
  publish_stats();
  if (!has_work()) outbox_.send_all();
}

// Blocks of a preempted sequence are written first, and read back before it continues.
void EngineCore::open_tiers() {
  std::vector<std::shared_ptr<PrefixStore>> stores;
  if (config_.host) stores.push_back(config_.host);
  if (config_.disk) stores.push_back(config_.disk);
  const bool can_restore = !config_.limits.has_state() || config_.limits.num_checkpoints > 0;
  if (stores.empty() || !config_.prefix_cache || !can_restore) return;
  tiers_.emplace(copier_, cache_, std::move(stores));
  scheduler_.set_before_preempting([this](Sequence& sequence) {
    leave_to_tiers(sequence);
    sequence.is_reading = sequence.uses_cache;
  });
}

// Blocks that cannot be read, for any reason, are computed. A preempted sequence reads all of its prefixes together,
// so that it is admitted in the same step: in the next one, others may need the space.
Sequence* EngineCore::read_next() noexcept {
  Sequence* next = scheduler_.next_reader();
  if (!next) return nullptr;
  outbox_.send_all();  // before the read, which may take long
  try {
    if (next->num_preemptions > 0) tiers_->begin_again();
    do {
      next->is_reading = tiers_->read_for(*next);
    } while (next->is_reading && next->num_preemptions > 0);
  } catch (const std::exception&) {
    next->is_reading = false;
  }
  return next;
}

// Null if there is no memory for a plan: its partial effects are unknown, so all requests end.
const scheduler::StepPlan* EngineCore::schedule() noexcept {
  num_saves_done_ = 0;
  try {
    num_decoding_ = scheduler_.num_decoding();
    return &scheduler_.schedule(budget_.max_tokens(num_decoding_), INT32_MAX, now());
  } catch (const std::exception&) {
    give_back_saves(scheduler_.plan(), nullptr);
    end_all(FinishReason::error, out_of_memory());
    return nullptr;
  }
}

Status EngineCore::forward(const scheduler::StepPlan& plan, Clock::time_point begin) noexcept {
  try {
    build_batch(plan, config_.limits.block_size, config_.limits.max_blocks_per_seq, config_.limits.has_state(), batch_);
    batch_.feeds_head = config_.uses_head;
    const bool has_prompts = batch_.num_tokens() > batch_.num_seqs() + plan.num_drafts();
    const bool has_policy = !config_.takes_all_drafts && (!config_.drafter || config_.admits_drafter);
    batch_.skips_head_rows = has_policy && !has_prompts && !policy_.wants_head();
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
    Status status = model_.launch(batch_);
    outbox_.send_all();  // events of the previous step
    if (status.is_ok()) status = model_.finish();
    const Clock::time_point end = Clock::now();
    plan_time_ += now - begin;
    forward_time_ += end - now;
    budget_.note(batch_.num_tokens(), batch_.num_seqs() + plan.num_drafts(), seconds(end - now),
                 num_decoding_ + plan.num_drafts());
    return status;
  } catch (const std::exception&) {
    return status_of_exception();
  }
}

// A device that failed permanently, or fails in consecutive steps, is a fault of the engine and not of a request.
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

// After a failed step the caches of its sequences are unreliable, so these sequences end; the others continue.
void EngineCore::fail_rows(const scheduler::StepPlan& plan, const Status& status) noexcept {
  give_back_saves(plan, nullptr);
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    Status own = copy_of(status);
    // Errors of the request were reported when it was submitted; this one is an engine error.
    if (own.code == StatusCode::invalid_argument || own.code == StatusCode::unsupported)
      own.code = StatusCode::internal;
    finish(*requests_.at(row.sequence->id), FinishReason::error, std::move(own));
  }
}

}  // namespace pagoda::engine
