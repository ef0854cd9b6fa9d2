// ActiveRequest: everything the engine keeps for one request from submission to its finished event.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/adapters.h"
#include "engine/answer_text.h"
#include "engine/image_outputs.h"
#include "engine/thinking.h"
#include "grammar/mask/worker.h"
#include "pagoda/event.h"
#include "pagoda/request.h"
#include "request/sequence.h"
#include "sampler/sampler.h"
#include "speculate/lookup_index.h"
#include "speculate/policy.h"

namespace pagoda::engine {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::duration time) noexcept { return std::chrono::duration<double>(time).count(); }

struct ActiveRequest {
  request::Sequence sequence;
  SamplingParams params;
  uint64_t seed = 0;
  std::vector<int32_t> stop_ids;  // those of the request, and the model's unless ignore_eos
  sampler::TokenCounts counts;
  std::shared_ptr<const Adapter> adapter;          // null: none; its memory stays until the request has ended
  std::optional<sampler::DryScratch> dry_scratch;  // if params.dry is on
  std::vector<int32_t> banned;  // for the token being sampled; reserved for all of params.banned and stop_ids
  AnswerText text;
  Thinking thinking;
  std::shared_ptr<grammar::TokenGrammar> grammar;  // null: any token is allowed; shared with other requests
  std::shared_ptr<grammar::Guide> guide;           // the mask worker uses it too
  grammar::DocumentPosition document_position;     // in the document, after the tokens so far, once it is computed
  bool has_begun = false;                          // the grammar has received a token
  bool is_awaited = false;                         // its mask is requested at the start of each step
  std::vector<float> held_logits;  // logits of a row whose mask was late: its token is sampled when the mask is ready
  RowCallback row_callback = nullptr;  // see Request
  bool is_with_owner = false;          // the owner has the logits of its next token; is_held meanwhile
  int32_t chosen_id = -1;              // the next token, if the owner has chosen it
  int32_t num_prompt_logprobs = -1;
  int32_t progress_interval_ms = -1;  // see Request
  bool is_checked = false;            // its answer is given: see Request::answer_ids
  int32_t num_scored = 0;             // leading rows whose logits were scored for the token that follows
  std::optional<Status> score_end;    // the status to end with: ok after a token that differs, or an error
  bool is_cancelled = false;          // ends when the step that computes its tokens has finished
  std::vector<PromptImage> images;    // until their rows are asked for
  std::vector<std::shared_ptr<const ImageOutput>> outputs;  // the rows of its images
  Pooling pooling = Pooling::none;
  std::vector<double> pooled;  // [hidden_size] the sum of the states so far; for `last`, of one state
  std::vector<float> state;    // [hidden_size] the state being read
  int32_t num_pooled = 0;      // leading rows that were added or skipped
  bool speculates = false;
  std::optional<speculate::LookupIndex> lookup;  // over its own tokens
  std::vector<int32_t> prediction;               // Request::prediction_ids, until it joins the past texts
  Thinking draft_thinking;                       // after the drafts so far
  speculate::Offer offer;                        // describes its drafts in flight
  std::array<speculate::Acceptance, speculate::kNumSources> acceptance;
  int32_t previous_row = -1;  // its row in the last pass of the MTP head
  int32_t num_drafted = 0, num_accepted = 0;
  EventCallback callback = nullptr;
  void* context = nullptr;

  Clock::time_point submitted = Clock::now();
  std::optional<Clock::time_point> first_scheduled, first_token;
  std::optional<Clock::time_point> last_progress;  // when the last prompt_progress event was sent

  ActiveRequest(const Request& request, uint64_t id, EventCallback callback, void* context);

  int32_t num_generated() const noexcept { return sequence.num_tokens() - sequence.num_prompt_tokens; }
  bool is_scored() const noexcept { return is_checked || num_prompt_logprobs >= 0; }
  bool is_pooled() const noexcept { return pooling != Pooling::none; }
  bool has_document() const noexcept { return guide && !thinking.is_open(); }  // its next token belongs to the grammar
  std::vector<float> embedding() const;
  bool is_progress_due(Clock::time_point now) const noexcept;
  void count_tokens(int32_t vocab_size);  // sets up penalties, if any are requested
  void count_output(int32_t token_id) noexcept;
  // Ids that params.banned excludes after the given tokens of the answer and `more`. Valid until the next call.
  std::span<const int32_t> find_banned(int32_t num_generated, std::span<const int32_t> more) noexcept;
  Usage usage() const noexcept;
  Timings timings(Clock::time_point now) const noexcept;
};

}  // namespace pagoda::engine
