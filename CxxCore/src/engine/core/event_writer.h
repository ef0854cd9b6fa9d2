// EventWriter: builds the events of requests, and sends them. Thread rule: the engine's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/active_request.h"
#include "engine/outbox.h"
#include "pagoda/event.h"
#include "sampler/sampler.h"

namespace pagoda::engine {

class EventWriter {
 public:
  // max_events: of a step, if they are kept until the next one has been launched; 0: sent at once. See Outbox.
  explicit EventWriter(size_t max_events) : outbox_(max_events) {}

  std::string& new_text() noexcept { return event_.text.clear(), event_.text; }  // of the next token, to be filled in
  void add_token(const ActiveRequest& request, const sampler::SampleOutput& sampled);
  // A token of the prompt, in order; `rank` 1: it was the most likely one.
  void add_prompt_token(const ActiveRequest& request, const sampler::SampleOutput& sampled, int32_t rank);
  void add_progress(ActiveRequest& request);  // if it is due
  // The last event of a request, for add(): an error if there is no memory for its contents.
  static Event finished(ActiveRequest& request, FinishReason reason, Status status) noexcept;
  void add(EventCallback callback, void* context, Event& event) noexcept { outbox_.add(callback, context, event); }

  void send_all() noexcept { outbox_.send_all(); }

 private:
  void add_sampled(const ActiveRequest& request, const sampler::SampleOutput& sampled);

  Event event_;  // the current event; reused so that a token allocates nothing
  Outbox outbox_;
};

}  // namespace pagoda::engine
