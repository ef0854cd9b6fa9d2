// Drafting: proposes the next tokens of the sequences that decode, and learns from which were accepted.
// State: the policy, texts of earlier answers, and the offers for the step being planned.
// Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/active_request.h"
#include "engine/core/core_config.h"
#include "engine/core/request_table.h"
#include "engine/rows/mask_gate.h"
#include "engine/rows/token_sampler.h"
#include "model/model.h"
#include "pagoda/statistics.h"
#include "sampler/sampler.h"
#include "scheduler/scheduler.h"
#include "speculate/past_texts.h"
#include "speculate/policy.h"

namespace pagoda::engine {

class Drafting {
 public:
  // All of these outlive it.
  Drafting(model::Model& model, scheduler::Scheduler& scheduler, MaskGate& masks, TokenSampler& sampler,
           const CoreConfig& config, const TestHooks& hooks);

  void begin(ActiveRequest& request) noexcept;      // takes its prediction
  void end(const ActiveRequest& request) noexcept;  // its answer may be repeated by later ones
  // Before a step is planned: sets Sequence::drafts of all running sequences. If there is no memory, nothing is
  // drafted.
  void draft(const RequestTable& requests) noexcept;
  // Whether the head may leave out the tokens of a step without prompts, because its drafts do not make up for it.
  bool skips_head() const noexcept { return hooks_.has_policy() && !policy_.wants_head(); }
  bool head_rests() const noexcept { return policy_.head_rests(); }

  // Outcomes of the drafts of one request, and of a step in which every row belongs to a decoding sequence.
  void note_drafts(ActiveRequest& request, int32_t num_drafts, int32_t num_accepted);
  void note_verified(ActiveRequest& request, int32_t num_drafts) noexcept;  // they were rows of a step
  void note_accepted(ActiveRequest& request, int32_t index) noexcept;
  void note_step(speculate::DecodeStep step) noexcept;
  void note_break() noexcept { policy_.note_break(); }  // a step of another kind

  const speculate::Policy& policy() const noexcept { return policy_; }
  const SpeculationStats& stats() const noexcept { return stats_; }

 private:
  void gather_offers(const RequestTable& requests);
  void add_offer(const speculate::Offer& offer, ActiveRequest& request);
  void offer_proposed(ActiveRequest& request, int32_t max_drafts);
  void offer_drafts(ActiveRequest& request, int32_t max_drafts);
  void draft_forced(ActiveRequest& request, int32_t max_drafts);
  int32_t draft_from_texts(ActiveRequest& request, int32_t max_drafts);
  void cut(ActiveRequest& request);
  void draft_with_head();
  void run_head(int32_t index);
  bool sample_draft(ActiveRequest& request, size_t row, int32_t index);
  void cut_head_drafts();

  model::Model& model_;
  scheduler::Scheduler& scheduler_;
  MaskGate& masks_;
  TokenSampler& sampler_;
  const CoreConfig& config_;
  const TestHooks& hooks_;
  speculate::Policy policy_;
  speculate::PastTexts past_texts_;
  std::optional<sampler::Sampler> head_sampler_;  // if the head drafts only part of the vocabulary
  sampler::SampleOutput sampled_;
  std::vector<speculate::Offer> offers_;        // for the step being planned
  std::vector<ActiveRequest*> offer_requests_;  // the requests of the offers
  model::ForwardBatch batch_;                   // of the head
  std::vector<size_t> head_offers_;             // offers whose sequences have a row in it
  double head_seconds_ = 0;                     // for the step being planned
  int32_t num_head_steps_ = 0;
  SpeculationStats stats_;
};

}  // namespace pagoda::engine
