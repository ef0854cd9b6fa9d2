// EventWriter: fills in events; the fields of token events are all set each time.
#include "engine/core/event_writer.h"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/step_status.h"

namespace pagoda::engine {

void EventWriter::add_sampled(const ActiveRequest& request, const sampler::SampleOutput& sampled) {
  event_.request_id = request.sequence.id;
  event_.token_id = sampled.token_id;
  event_.logprob = sampled.logprob;
  event_.top_logprobs.assign(sampled.top_logprobs.begin(), sampled.top_logprobs.end());
  outbox_.add(request.callback, request.context, event_);
}

void EventWriter::add_token(const ActiveRequest& request, const sampler::SampleOutput& sampled) {
  event_.kind = EventKind::token;
  event_.has_logprob = request.params.num_top_logprobs >= 0;
  event_.rank = 0;
  add_sampled(request, sampled);
}

void EventWriter::add_prompt_token(const ActiveRequest& request, const sampler::SampleOutput& sampled, int32_t rank) {
  event_.kind = EventKind::prompt_token;
  event_.has_logprob = request.num_prompt_logprobs >= 0;
  event_.rank = rank;
  add_sampled(request, sampled);
}

void EventWriter::add_progress(ActiveRequest& request) {
  if (request.progress_interval_ms < 0) return;
  const Clock::time_point now = Clock::now();
  if (!request.is_progress_due(now)) return;
  request.last_progress = now;
  Event event;
  event.request_id = request.sequence.id;
  event.kind = EventKind::prompt_progress;
  event.num_read_tokens = std::min(request.sequence.num_computed_tokens, request.sequence.num_prompt_tokens);
  event.usage = request.usage();
  event.timings = request.timings(now);
  outbox_.add(request.callback, request.context, event);
}

Event EventWriter::finished(ActiveRequest& request, FinishReason reason, Status status) noexcept {
  Event event;
  event.request_id = request.sequence.id;
  event.kind = EventKind::finished;
  try {
    request.text.finish(event.text);
    event.stop_string = request.text.matched();
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
  return event;
}

}  // namespace pagoda::engine
