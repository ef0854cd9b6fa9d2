// Recorder: keeps the events of one request and checks their order: tokens, then exactly one finished event. A
// HeldRecorder also stops the engine at the first token, until the test has done what must come before the end.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "pagoda/event.h"
#include "support/test.h"

namespace pagoda::test {

struct Recorder {
  std::vector<int32_t> tokens;
  std::vector<int32_t> prompt_tokens, prompt_ranks;  // of events of kind prompt_token
  std::vector<uint32_t> prompt_bits;
  std::vector<int32_t> progress;       // num_read_tokens of events of kind prompt_progress
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
    if (event->kind == EventKind::prompt_progress) {
      CHECK(self.tokens.empty() && event->text.empty() && event->num_read_tokens < event->usage.prompt_tokens);
      self.progress.push_back(event->num_read_tokens);
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

  // At most ten minutes: emulators and sanitizers are slow.
  void wait() const {
    for (int i = 0; i < 600'000 && !finished; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(finished.load());
  }
};

struct HeldRecorder : Recorder {
  std::atomic<bool> is_held{false}, may_go{false};

  static void on_event(void* context, const Event* event) {
    HeldRecorder& self = *static_cast<HeldRecorder*>(context);
    Recorder::on_event(static_cast<Recorder*>(&self), event);
    self.is_held = true;
    while (!self.may_go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void wait_until_held() const {
    while (!is_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

}  // namespace pagoda::test
