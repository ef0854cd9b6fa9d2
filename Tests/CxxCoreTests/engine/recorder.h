// Recorder: keeps the events of one request and checks their order: tokens, then exactly one finished event.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/event.h"
#include "support/test.h"

namespace pagoda::test {

struct Recorder {
  std::vector<int32_t> tokens;
  std::vector<int32_t> prompt_tokens, prompt_ranks;  // of events of kind prompt_token
  std::vector<uint32_t> prompt_bits;
  std::vector<uint32_t> logprob_bits;  // compared bit for bit
  std::string text;
  FinishReason reason = FinishReason::none;
  Status status;
  Usage usage;
  std::string stop_string;
  std::vector<float> embedding;
  std::atomic<bool> finished{false};

  static void on_event(void* context, const Event* event) {
    Recorder& self = *static_cast<Recorder*>(context);
    CHECK(!self.finished.load());
    self.text += event->text;
    if (event->kind == EventKind::prompt_token) {
      CHECK(self.tokens.empty() && event->has_logprob);
      self.prompt_tokens.push_back(event->token_id);
      self.prompt_ranks.push_back(event->rank);
      self.prompt_bits.push_back(std::bit_cast<uint32_t>(event->logprob));
      for (const TokenLogprob& top : event->top_logprobs)
        self.prompt_bits.push_back(std::bit_cast<uint32_t>(top.logprob));
      return;
    }
    if (event->kind == EventKind::token) {
      self.tokens.push_back(event->token_id);
      if (event->has_logprob) self.logprob_bits.push_back(std::bit_cast<uint32_t>(event->logprob));
      return;
    }
    self.reason = event->finish_reason;
    self.status = event->status;
    self.usage = event->usage;
    self.stop_string = event->stop_string;
    self.embedding = event->embedding;
    self.finished.store(true);
  }
};

}  // namespace pagoda::test
