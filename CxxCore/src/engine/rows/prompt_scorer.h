// PromptScorer: logits of rows inside a prompt, for its log probabilities, and inside a recorded answer, for
// verification. State: the rows of the current step to score. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/active_request.h"
#include "engine/core/event_writer.h"
#include "engine/core/request_table.h"
#include "engine/rows/mask_gate.h"
#include "engine/rows/token_sampler.h"
#include "model/model.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

class PromptScorer {
 public:
  PromptScorer(model::Model& model, MaskGate& masks, TokenSampler& sampler, EventWriter& events,
               const EngineLimits& limits);

  // Scoring reads the states of the last step: while any request is scored, no other step may be in flight.
  void begin(const ActiveRequest& request) noexcept { num_requests_ += request.is_scored(); }
  void forget(const ActiveRequest& request) noexcept { num_requests_ -= request.is_scored(); }
  bool has_requests() const noexcept { return num_requests_ > 0; }

  // Lists the rows to score in the step being built. A row is scored once, even if a preemption makes it run again.
  // True if there are any: the model keeps the states of the step.
  bool find_rows(const scheduler::StepPlan& plan, const RequestTable& requests, const model::ForwardBatch& batch);
  // After the forward pass: scores as many rows at a time as the logits buffer holds, then restores the rows from which
  // answers are sampled.
  Status score(const model::ForwardBatch& batch) noexcept;

 private:
  struct Row {
    ActiveRequest* request = nullptr;
    int32_t row = 0;       // of the batch
    int32_t position = 0;  // of its token in the sequence; the next one is scored
  };
  void score(const Row& row, std::span<const float> logits);
  Status sample(ActiveRequest& request, int32_t next, int32_t answer_index, std::span<const float> logits);

  model::Model& model_;
  MaskGate& masks_;
  TokenSampler& sampler_;
  EventWriter& events_;
  size_t max_logits_rows_;
  int32_t num_requests_ = 0;
  std::vector<Row> rows_;           // of the current step; reserved for the largest step
  std::vector<int32_t> projected_;  // rows of the batch; reserved for max_logits_rows
  SamplingParams prompt_params_;    // for a prompt's token: only the number of log probabilities
  sampler::SampleOutput sampled_;
};

}  // namespace pagoda::engine
