// ActiveRequest: set-up from a Request, token counts for penalties, usage and timings.
#include "engine/active_request.h"

#include <algorithm>
#include <random>

namespace pagoda::engine {

static uint64_t draw_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

ActiveRequest::ActiveRequest(const Request& request, uint64_t id, EventCallback event_callback, void* event_context)
    : params(request.sampling),
      seed(request.sampling.has_seed ? request.sampling.seed : draw_seed()),
      stop_ids(request.sampling.stop_ids),
      text(request.sampling.stop),
      row_callback(request.row_callback),
      num_prompt_logprobs(request.num_prompt_logprobs),
      progress_interval_ms(request.progress_interval_ms),
      is_checked(!request.answer_ids.empty()),
      pooling(request.pooling),
      callback(event_callback),
      context(event_context) {
  sequence.id = id;
  sequence.tokens = request.prompt_ids;
  sequence.num_prompt_tokens = sequence.num_tokens();
}

void ActiveRequest::count_tokens(int32_t vocab_size) {
  const bool repetition = params.repetition_penalty != 1.0f;
  if (!repetition && params.presence_penalty == 0.0f && params.frequency_penalty == 0.0f) return;
  counts.output.assign(static_cast<size_t>(vocab_size), 0);
  counts.ids.reserve(static_cast<size_t>(std::min(sequence.max_num_tokens, vocab_size)));
  counts.is_listed = true;
  if (!repetition) return;
  counts.in_prompt.assign(static_cast<size_t>(vocab_size), 0);
  for (int32_t id : sequence.tokens)
    if (!request::is_image_key(id)) counts.note_prompt(id);
}

void ActiveRequest::count_output(int32_t token_id) noexcept {
  if (!counts.output.empty()) counts.note_output(token_id);
}

std::span<const int32_t> ActiveRequest::find_banned(int32_t num_generated, std::span<const int32_t> more) noexcept {
  if (params.banned.empty()) return more;
  banned.assign(more.begin(), more.end());
  const std::span<const int32_t> tokens = sequence.tokens;
  // Drafts are sampled before they are part of the sequence: only the tokens already present are compared here.
  const size_t end = std::min(tokens.size(), static_cast<size_t>(sequence.num_prompt_tokens + num_generated));
  const std::span<const int32_t> answer = tokens.subspan(static_cast<size_t>(sequence.num_prompt_tokens),
                                                         end - static_cast<size_t>(sequence.num_prompt_tokens));
  for (const BannedSequence& sequence_ids : params.banned) {
    const std::span<const int32_t> before = std::span(sequence_ids.ids).first(sequence_ids.ids.size() - 1);
    if (before.size() <= answer.size() && std::ranges::equal(before, answer.last(before.size())))
      banned.push_back(sequence_ids.ids.back());
  }
  return banned;
}

std::vector<float> ActiveRequest::embedding() const {
  const double count = pooling == Pooling::mean ? sequence.num_prompt_tokens : 1;
  std::vector<float> values(pooled.size());
  std::ranges::transform(pooled, values.begin(), [count](double sum) { return static_cast<float>(sum / count); });
  return values;
}

// Not after the first token: a preempted sequence computes its prompt again, which is no progress.
bool ActiveRequest::is_progress_due(Clock::time_point now) const noexcept {
  if (progress_interval_ms < 0 || first_token) return false;
  return !last_progress || now - *last_progress >= std::chrono::milliseconds(progress_interval_ms);
}

Usage ActiveRequest::usage() const noexcept {
  return {.prompt_tokens = sequence.num_prompt_tokens,
          .completion_tokens = num_generated(),
          .cached_tokens = sequence.num_cached_tokens,
          .matched_tokens = sequence.num_matched_tokens};
}

Timings ActiveRequest::timings(Clock::time_point now) const noexcept {
  const auto ms = [](Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  Timings t;
  t.queue_ms = ms(first_scheduled.value_or(now) - submitted);
  if (first_scheduled) t.prompt_ms = ms(first_token.value_or(now) - *first_scheduled);
  if (first_token) t.generation_ms = ms(now - *first_token);
  t.num_preemptions = sequence.num_preemptions;
  t.num_drafted_tokens = num_drafted;
  t.num_accepted_tokens = num_accepted;
  return t;
}

}  // namespace pagoda::engine
