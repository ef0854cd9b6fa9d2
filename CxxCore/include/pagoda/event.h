// Event: reports progress to the owner of a request, through one function pointer and a context.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

enum class EventKind : int32_t {
  token = 0,        // one sampled token, with the text that it completes (may be empty)
  finished,         // the last event of a request, sent exactly once: rest of the text, reason, usage, timings
  prompt_token,     // one token of the prompt with its log probability, in order, before the first sampled token
  prompt_progress,  // part of the prompt is computed: num_read_tokens, usage and timings so far; only if requested
};

enum class FinishReason : int32_t {
  none = 0,
  stop,       // an end-of-text id, a stop id or a stop string
  length,     // max_tokens or the context length
  cancelled,  // cancel() or shutdown
  error,      // see Event::status
};

struct TokenLogprob {
  int32_t token_id = 0;
  float logprob = 0.0f;  // of the raw distribution: log softmax of the logits before penalties and temperature
};

struct Usage {
  int32_t prompt_tokens = 0;
  int32_t completion_tokens = 0;  // sampled tokens, including an end-of-text id
  int32_t cached_tokens = 0;      // prompt tokens that were not computed because they were cached
  int32_t matched_tokens = 0;     // prompt tokens whose KV blocks were cached: here the prompt diverged from all
                                  // earlier ones. More than cached_tokens if no state was saved at that position
};

struct Timings {             // milliseconds of wall-clock time
  double queue_ms = 0;       // submit to first scheduled
  double prompt_ms = 0;      // first scheduled to first token
  double generation_ms = 0;  // first token to last
  int32_t num_preemptions = 0;
  int32_t num_drafted_tokens = 0;   // drafts verified by the model, see EngineOptions::speculation
  int32_t num_accepted_tokens = 0;  // drafts that the model accepted
};

struct Event {
  uint64_t request_id = 0;
  EventKind kind = EventKind::token;
  std::string text;  // valid UTF-8; the concatenation over all events is the answer
  int32_t token_id = -1;
  bool has_logprob = false;
  float logprob = 0.0f;
  std::vector<TokenLogprob> top_logprobs;
  int32_t rank = 0;             // rank of a prompt token: 1 if it is the most likely
  int32_t num_read_tokens = 0;  // only in prompt_progress events: prompt tokens that are cached or computed
  FinishReason finish_reason = FinishReason::none;
  std::string stop_string;  // the stop string that ended the text, if any
  Usage usage;
  Timings timings;
  Status status;
  std::vector<float> embedding;  // only in the finished event with Request::pooling: hidden_size values, not normalised
};

// Called on the engine's thread; the event is valid during the call. Must not call back into the engine except submit()
// and cancel(), and must not block, because the whole batch waits for it.
using EventCallback = void (*)(void* PAGODA_NULLABLE context, const Event* PAGODA_NONNULL event);

}  // namespace pagoda
