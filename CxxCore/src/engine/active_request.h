// ActiveRequest: everything the engine keeps for one request from submission to its finished event.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/thinking.h"
#include "grammar/token_grammar.h"
#include "pagoda/event.h"
#include "pagoda/request.h"
#include "request/sequence.h"
#include "sampler/sampler.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace pagoda::engine {

using Clock = std::chrono::steady_clock;

struct ActiveRequest {
  request::Sequence sequence;
  SamplingParams params;
  uint64_t seed = 0;
  std::vector<int32_t> stop_ids;  // of the request, and the model's unless ignore_eos
  sampler::TokenCounts counts;
  std::optional<text::Detokenizer> detokenizer;  // absent when the model has no tokenizer: events carry ids only
  text::StopStrings stop_strings;
  Thinking thinking;
  std::shared_ptr<grammar::TokenGrammar>
      grammar;                              // null: any token may come; shared by requests, the engine's thread's
  std::optional<grammar::Matcher> matcher;  // made by that thread
  EventCallback callback = nullptr;
  void* context = nullptr;

  Clock::time_point submitted = Clock::now();
  std::optional<Clock::time_point> first_scheduled, first_token;

  ActiveRequest(const Request& request, uint64_t id, EventCallback callback, void* context);

  int32_t num_generated() const noexcept { return sequence.num_tokens() - sequence.num_prompt_tokens; }
  void count_tokens(int32_t vocab_size);  // sets up penalties, when any is asked for
  void count_output(int32_t token_id) noexcept;
  Usage usage() const noexcept;
  Timings timings(Clock::time_point now) const noexcept;
};

}  // namespace pagoda::engine
