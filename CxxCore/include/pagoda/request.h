// Request: a prompt as token ids and everything that determines its answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/grammar.h"
#include "pagoda/image.h"
#include "pagoda/sampling_params.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

// The logits of a request's next token, for its owner to change, or to choose the token itself.
struct LogitRow {
  uint64_t request_id = 0;
  int32_t token_index = 0;                        // 0: the first token of the answer
  const float* PAGODA_NULLABLE logits = nullptr;  // [num_logits]; -infinity for ids that the request excludes here
  int32_t num_logits = 0;
  const int32_t* PAGODA_NULLABLE tokens = nullptr;  // [num_tokens]: the prompt, then the answer so far
  int32_t num_tokens = 0, num_prompt_tokens = 0;
};

// Called on the engine's thread with the context of the request's events; the row is valid during the call. Must not
// block: Engine::answer_row() continues the request at any later time, and others run in the meantime.
using RowCallback = void (*)(void* PAGODA_NULLABLE context, const LogitRow* PAGODA_NONNULL row);

// How the hidden states of a prompt become one vector.
enum class Pooling : int32_t {
  none = 0,
  last,  // the state of the last token
  mean,  // the mean of all states
};

struct Request {
  std::vector<int32_t> prompt_ids;
  SamplingParams sampling;
  GrammarSpec grammar{};
  // Whether <think> and </think> in the prompt are the chat template's and determine if the answer starts inside
  // thinking. False for text that no template rendered: then it starts outside, even if the text mentions them.
  bool prompt_has_thinking_tags = true;
  bool speculate = true;        // false: one token per step, regardless of EngineOptions::speculation
  bool use_cache = true;        // false: neither uses the prefix cache nor adds to it
  int32_t priority = 0;         // the class: waiting requests with lower values run first
  std::string share_id = "";    // requests with the same id (one client's) use one fair share; at most 256 bytes
  std::string cache_salt = "";  // requests with different salts (tenants) never share prefixes; at most 256 bytes
  std::string lora = "";        // the LoRA adapter, by name; "": none. Prefixes of different adapters are never shared
  // Log probabilities of the prompt, as events of kind prompt_token: -1 for none, otherwise those of the tokens after
  // the first and of this many of the most likely alternatives. Such a request uses no prefix cache.
  int32_t num_prompt_logprobs = -1;
  // Minimum time between events of kind prompt_progress, in milliseconds; 0 for one per step, -1 for none.
  int32_t progress_interval_ms = -1;
  // Other than none: the request is for an embedding of its prompt, Event::embedding of the finished event, and no
  // token is sampled. With `mean` it uses no prefix cache.
  Pooling pooling = Pooling::none;
  // A recorded answer to verify: computed in one pass with the prompt, each token sampled again from its own row.
  // Events of kind token contain the sampled tokens; the first that differs is the last. Uses no prefix cache;
  // max_tokens is ignored.
  std::vector<int32_t> answer_ids{};
  // Text that the answer is expected to repeat in parts, such as a file to edit: drafts may come from it, as from
  // earlier answers under the same salt. It never changes the answer.
  std::vector<int32_t> prediction_ids{};
  // Positions where other prompts are expected to diverge: numbers of leading prompt tokens after which the recurrent
  // state is worth saving, besides the ends of turns, a coarse grid and the end, which are found automatically.
  std::vector<int32_t> checkpoint_positions{};
  // The images of the prompt, by position. Each covers num_tokens() tokens of prompt_ids, all
  // ModelInfo::image_token_id.
  std::vector<PromptImage> images{};
  // Other than null: receives the logits of each token before it is sampled. Such a request drafts no tokens.
  RowCallback PAGODA_NULLABLE row_callback = nullptr;
};

struct SubmitResult {
  Status status;
  uint64_t request_id = 0;
};

}  // namespace pagoda
