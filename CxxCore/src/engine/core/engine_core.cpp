// EngineCore: sets up the parts of a step; adds, cancels and ends requests.
#include "engine/core/engine_core.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "engine/batch_builder.h"
#include "engine/step_status.h"

namespace pagoda::engine {

// Events of one step: tokens, accepted drafts, and the end of every request. Scored prompts may produce more.
static size_t most_events(const CoreConfig& config) noexcept {
  return static_cast<size_t>(config.limits.max_num_seqs) * static_cast<size_t>(2 + config.max_drafts);
}

// On several machines the contents of the caches may be lost, or are elsewhere.
static Status refusal_of_prefixes(const CoreConfig& config, const model::Model& model) {
  if (!config.keeps_prefixes())
    return make_error(StatusCode::unsupported, "prefixes are pinned and saved from the prefix cache, which is off");
  if (model.max_in_flight() <= 1) return ok_status();
  return make_error(StatusCode::unsupported, "prefixes cannot be pinned or saved on several machines");
}

EngineCore::EngineCore(model::Model& model, CoreConfig config, TestHooks hooks)
    : model_(model),
      config_(std::move(config)),
      hooks_(std::move(hooks)),
      blocks_(config_.limits.num_kv_blocks, config_.limits.block_size),
      states_(config_.limits.num_state_slots),
      cache_(blocks_, states_, config_.limits.has_state(), config_.prefix_cache ? config_.limits.num_checkpoints : 0),
      scheduler_(config_.limits, blocks_, states_, cache_),
      budget_(config_.step_times, config_.limits.max_num_tokens),
      builder_(config_, scheduler_, model_.gives_states()),
      images_(ImageOutputs(config_.tower, config_.image_cache_bytes, config_.image_files)),
      copier_(model_, cache_),
      restorer_(config_, copier_, cache_, scheduler_, hooks_.waits_for_copies),
      prefixes_(cache_, blocks_, copier_, config_.limits.has_state(), refusal_of_prefixes(config_, model_)),
      flights_(std::max(1, model_.max_in_flight()), config_.limits),
      masks_(config_.tokenizer, config_.has_mask_thread && !flights_.overlap(), hooks_.before_mask,
             config_.limits.max_num_seqs),
      sampler_(model_, batch_, masks_, config_.vocab_size, config_.limits, config_.num_sample_threads),
      owners_(config_.vocab_size),
      drafting_(model_, scheduler_, masks_, sampler_, config_, hooks_),
      events_(model_.launches_early() ? most_events(config_) : 0),
      scorer_(model_, masks_, sampler_, events_, config_.limits),
      faults_(config_.device),
      num_losses_(model_.num_losses()) {
  reserve_batch(batch_, config_.limits);
  sampler_.reserve(batch_);
  publish_stats();
}

double EngineCore::now() const { return hooks_.clock ? hooks_.clock() : seconds(Clock::now().time_since_epoch()); }

Status EngineCore::place_adapter(const Adapter& adapter, const model::AdapterImage& image) {
  return model_.place_adapter(adapter.slot, adapter.begin, image);
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
  restorer_.begin(request->sequence);
  if (Status status = ready(); !status.is_ok()) return refuse(*request, std::move(status));
  try {
    owners_.begin(*request);
    masks_.begin(*request);
    requests_.reserve(id);
    if (images_.add(*request)) scheduler_.add(&request->sequence, now());  // changes nothing if it throws
  } catch (const std::exception&) {
    requests_.erase(id);
    return refuse(*request, status_of_exception());
  }
  scorer_.begin(*request);
  drafting_.begin(*request);
  requests_.put(std::move(request));
  publish_stats();
}

void EngineCore::cancel(uint64_t id) noexcept {
  ActiveRequest* request = requests_.find(id);
  if (!request) return;
  if (request->sequence.is_in_flight) request->is_cancelled = true;  // ends when its step has finished
  else finish(*request, FinishReason::cancelled, ok_status());
  events_.send_all();
}

void EngineCore::end_all(FinishReason reason, const Status& status) noexcept {
  drop_flights();
  while (ActiveRequest* request = requests_.any()) finish(*request, reason, copy_of(status));
  events_.send_all();
}

}  // namespace pagoda::engine
