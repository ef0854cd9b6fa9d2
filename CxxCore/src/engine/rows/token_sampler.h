// TokenSampler: samples the next token of a request from its row of logits: on the device, on several threads, or here.
// State: samplers with their scratch, and the token sampled last. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "engine/active_request.h"
#include "engine/core/request_table.h"
#include "engine/rows/mask_gate.h"
#include "engine/rows/row_sampler.h"
#include "model/model.h"
#include "sampler/draw_lists.h"
#include "sampler/sampler.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

// The input of the sampler, except for the logits. `thinking`: after num_generated tokens.
sampler::SampleInput sample_input(ActiveRequest& request, const Thinking& thinking, int32_t num_generated);

class TokenSampler {
 public:
  // batch: that of the step whose rows are sampled.
  TokenSampler(model::Model& model, const model::ForwardBatch& batch, MaskGate& masks, int32_t vocab_size,
               const EngineLimits& limits, int32_t num_threads);

  // For devices that sample: reserves the lists of a batch, and gives it the sampling parameters of every row of a step
  // whose logits are needed.
  void reserve(model::ForwardBatch& batch) const;
  void ask(const scheduler::StepPlan& plan, const RequestTable& requests, model::ForwardBatch& batch);
  // The parameters of one row; top_k 0 returns logits. `ahead`: the drafts before the row. Masks and banned sequences
  // after drafts are not known yet, and a late mask is applied when it is ready.
  Draw draw_for(ActiveRequest& request, const Thinking& thinking, std::span<const int32_t> ahead,
                model::ForwardBatch& batch);

  // After the forward pass: samples, with several threads, the first row of every request of the step.
  void sample_ahead(const scheduler::StepPlan& plan, const RequestTable& requests) noexcept;
  // The next token of a request. `held`: the logits, if they are not the model's.
  Status sample(ActiveRequest& request, size_t logits_row, std::span<const float> held);
  const sampler::SampleOutput& sampled() const noexcept { return sampled_; }  // by the last call
  // Any input, for a draft or for a recorded token.
  Status sample(const sampler::SampleInput& input, sampler::SampleOutput& output) {
    return sampler_.sample(input, output);
  }

  std::span<const float> logits(size_t logits_row) const noexcept {
    return model_.logits().subspan(logits_row * vocab_size_, vocab_size_);
  }

 private:
  bool is_picked(size_t logits_row) const noexcept;
  bool may_sample_ahead(ActiveRequest& request);

  model::Model& model_;
  const model::ForwardBatch& batch_;
  MaskGate& masks_;
  size_t vocab_size_;
  sampler::Sampler sampler_;
  std::optional<RowSampler> row_sampler_;         // if several threads sample
  std::optional<sampler::DrawLists> draw_lists_;  // if the model samples
  sampler::SampleOutput sampled_;
};

}  // namespace pagoda::engine
