// Flights: the steps in flight, the oldest first. A model on one machine has one. While a step of a model on several
// machines is in a later stage, the next starts with other sequences. Every stage runs steps in launch order, so an
// earlier step has read everything that a later one overwrites, including blocks and slots that were reassigned to
// another sequence. Thread rule: the engine's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/active_request.h"
#include "scheduler/scheduler.h"
#include "speculate/policy.h"

namespace pagoda::engine {

struct Flight {
  scheduler::StepPlan plan;
  size_t num_saves_done = 0;  // leading saves of the plan whose slots belong to the cache, or are free again
  int32_t num_decoding = 0;   // rows of decoding sequences, including drafts
  int32_t num_tokens = 0;     // rows of the batch
  bool has_prompts = false;
  speculate::DecodeStep decode;  // of a step without prompts, so far
  Status status;                 // not ok: it was not launched
  int64_t step_index = 0;        // as counted by EngineStats::num_steps
  Clock::time_point begin, launched;
};

class Flights {
 public:
  Flights(int32_t max_flights, const EngineLimits& limits) : ring_(static_cast<size_t>(max_flights)) {
    for (Flight& flight : ring_) {  // for the largest step, so that no plan allocates
      flight.plan.sequences.reserve(static_cast<size_t>(limits.max_num_seqs));
      flight.plan.saves.reserve(static_cast<size_t>(limits.max_state_saves));
      flight.plan.copies.blocks.reserve(static_cast<size_t>(limits.max_num_seqs));
      flight.plan.copies.slots.reserve(static_cast<size_t>(limits.max_num_seqs));
      flight.plan.preempted.reserve(static_cast<size_t>(limits.max_num_seqs));
    }
  }

  bool overlap() const noexcept { return ring_.size() > 1; }  // on several machines
  size_t size() const noexcept { return size_; }
  int32_t max_size() const noexcept { return static_cast<int32_t>(ring_.size()); }
  bool is_empty() const noexcept { return size_ == 0; }

  Flight& next() noexcept { return ring_[(first_ + size_) % ring_.size()]; }  // to fill in; then push() it
  void push() noexcept { ++size_; }
  Flight& oldest() noexcept { return ring_[first_]; }
  void pop() noexcept { first_ = (first_ + 1) % ring_.size(), --size_; }  // its contents stay until the next push()

 private:
  std::vector<Flight> ring_;
  size_t first_ = 0, size_ = 0;
};

}  // namespace pagoda::engine
