// EngineCore: the step. Owns the requests in flight and moves them: plan -> batch -> forward -> sample -> commit.
// Thread rule: one thread drives it (EngineThread's, or a test's); events are sent from inside step() and cancel().
// Those of a step that another follows may be sent beside that one, where the device works while the host does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "engine/active_request.h"
#include "engine/activity_log.h"
#include "engine/disk/store.h"
#include "engine/outbox.h"
#include "engine/thinking.h"
#include "engine/tier/host_store.h"
#include "engine/tier/prefix_tiers.h"
#include "grammar/grammar_cache.h"
#include "grammar/mask/worker.h"
#include "model/model.h"
#include "pagoda/event.h"
#include "pagoda/prefix_match.h"
#include "pagoda/request.h"
#include "pagoda/statistics.h"
#include "sampler/sampler.h"
#include "scheduler/scheduler.h"
#include "scheduler/step_budget.h"
#include "speculate/drafter.h"
#include "speculate/past_texts.h"
#include "speculate/policy.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::engine {

struct CoreConfig {
  EngineLimits limits;
  int32_t vocab_size = 0;
  int32_t hidden_size = 0;  // 0: no embeddings
  bool prefix_cache = true;
  scheduler::StepTimes step_times;
  int64_t state_slot_bytes = 0;
  std::shared_ptr<HostStore> host;   // null: prefixes are not kept in host memory beside the caches
  std::shared_ptr<DiskStore> disk;   // null: prefixes are not kept on disk
  device::Device* device = nullptr;  // asked for its health after a failed step; null: only the model is
  std::vector<int32_t> eos_token_ids;
  bool has_mask_thread = false;                     // masks are found beside the steps; else within them
  bool uses_head = false;                           // drafts from the model's MTP head
  bool uses_lookup = false;                         // drafts from what stood before in the text, and what rules force
  int32_t max_drafts = 0;                           // of a sequence in a step; 0: none
  bool takes_all_drafts = false;                    // whatever they cost: for tests and measurements
  std::shared_ptr<speculate::Drafter> drafter;      // replaces all others and the policy: for tests
  bool admits_drafter = false;                      // the policy decides about its drafts too: for measurements
  std::shared_ptr<const speculate::Policy> policy;  // learned by another core of the model: for measurements
  std::function<void()> before_mask;                // see MaskWorker: for tests
  std::shared_ptr<const text::BpeTokenizer> tokenizer;  // null: events carry ids only
};

class EngineCore {
 public:
  EngineCore(model::Model& model, CoreConfig config);

  // Checks a request against what never changes and prepares it. Any thread, at any time.
  // On an error no event is ever sent for it.
  Result<std::unique_ptr<ActiveRequest>> prepare(const Request& request, uint64_t id, EventCallback callback,
                                                 void* context) const;
  // None of these throws. A request that there is no memory for ends with out_of_memory; the others continue.
  void add(std::unique_ptr<ActiveRequest> request) noexcept;  // to the end of the queue
  void cancel(uint64_t id) noexcept;                          // unknown ids are finished ones: nothing happens
  void end_all(FinishReason reason, const Status& status) noexcept;

  bool has_work() const noexcept { return scheduler_.has_work(); }
  void step() noexcept;  // one forward pass; nothing when there is no work

  // How many of these tokens are known, and how many a request with this salt would not compute again. Any thread, at
  // any time, inside an event too: waits for no step, and leaves no trace in the cache.
  PrefixMatch find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  // See Engine. Any thread, at any time.
  PrefixFilesResult prefix_files(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  Status add_prefix_file(const std::string& path, const std::string& name) const;

  // Any thread. Up to date whenever an event is being sent and between steps.
  EngineStats stats() const;
  const speculate::Policy& policy() const noexcept { return policy_; }  // the driving thread
  ActivityLog& activity() noexcept { return activity_; }  // as up to date as the stats, while it is watched

 private:
  // A step of a model that runs several at once (flights.cpp).
  struct Flight {
    scheduler::StepPlan plan;
    int32_t num_tokens = 0, num_decoding = 0;
    Clock::time_point launched;
  };
  void step_in_flight() noexcept;
  bool launch_next() noexcept;  // false when there is nothing to launch
  void land_oldest() noexcept;
  void drop_flights() noexcept;
  void lose_all(const Status& status) noexcept;
  void note_losses() noexcept;
  Status ready() noexcept;

  void publish_stats() noexcept;
  request::Sequence* read_next() noexcept;  // the sequence that read, or null
  const scheduler::StepPlan* schedule() noexcept;
  Status forward(const scheduler::StepPlan& plan, Clock::time_point begin) noexcept;  // begin: of the step
  void note_result(const Status& status) noexcept;
  void fail_rows(const scheduler::StepPlan& plan, const Status& status) noexcept;
  void commit(const scheduler::StepPlan& plan) noexcept;
  void publish(request::Sequence& sequence, const scheduler::StepPlan& plan);
  void give_back_saves(const scheduler::StepPlan& plan, const request::Sequence* sequence) noexcept;
  void commit_tokens(ActiveRequest& request, int32_t num_drafts, size_t logits_row);
  // False when it was the last. `held`: the logits, when they are not the model's.
  bool commit_token(ActiveRequest& request, size_t logits_row, std::span<const float> held = {});
  void draft_tokens() noexcept;
  void offer_all();
  void offer_drafts(ActiveRequest& request, int32_t room);
  void offer_proposed(ActiveRequest& request, int32_t room);
  void draft_forced(ActiveRequest& request, int32_t room);
  void draft_with_head();
  bool sample_draft(ActiveRequest& request, size_t row, int32_t index);
  void cut_drafts(ActiveRequest& request);
  void note_drafts(ActiveRequest& request, int32_t num_drafts, int32_t num_accepted);
  Status check_outputs(const Request& request) const;
  void prepare_cache(const Request& request, request::Sequence& sequence) const;
  sampler::SampleInput sample_input(ActiveRequest& request, const Thinking& thinking, int32_t num_generated);
  Draw draw_for(ActiveRequest& request, const Thinking& thinking, int32_t num_generated);
  void ask_for_tokens(const scheduler::StepPlan& plan);
  Status sample(ActiveRequest& request, size_t logits_row, std::span<const float> held);
  void begin_mask_wait(Clock::time_point now) noexcept;
  bool find_place(ActiveRequest& request, Clock::time_point deadline);  // false when it is not known by then
  bool has_mask(ActiveRequest& request);
  void await_place(ActiveRequest& request);
  void hold_row(ActiveRequest& request, size_t logits_row);
  void settle_masks() noexcept;
  void resume(ActiveRequest& request) noexcept;
  void wait_for_masks() noexcept;
  struct ScoredRow {
    ActiveRequest* request = nullptr;
    int32_t row = 0;       // of the batch
    int32_t position = 0;  // of its token in the sequence; the next one is looked up
  };
  void find_scored_rows(const scheduler::StepPlan& plan);
  Status score() noexcept;
  void score(const ScoredRow& row, size_t logits_row);
  Status pool(const scheduler::StepPlan& plan) noexcept;
  Status pool(ActiveRequest& request, int32_t first_row, int32_t num_rows);
  void check_token(ActiveRequest& request, int32_t token_id);
  bool follow(ActiveRequest& request, int32_t token_id);
  bool append_text(ActiveRequest& request, int32_t token_id);  // true when a stop string ended it
  void finish(ActiveRequest& request, FinishReason reason, Status status) noexcept;
  void open_tiers();
  void leave_to_tiers(const request::Sequence& sequence) noexcept;
  int64_t default_max_tokens(int64_t num_prompt_tokens) const noexcept;

  model::Model& model_;
  CoreConfig config_;
  ThinkingFormat thinking_format_;
  mutable grammar::GrammarCache grammars_;  // locks itself
  grammar::MaskWorker masks_;
  cache::BlockManager blocks_;
  cache::StatePool states_;
  cache::PrefixCache cache_;
  scheduler::Scheduler scheduler_;
  scheduler::StepBudget budget_;
  int32_t num_decoding_ = 0;          // when the step was planned
  std::optional<PrefixTiers> tiers_;  // where prefixes go that the caches cannot keep
  sampler::Sampler sampler_;
  speculate::PastTexts past_texts_;
  std::optional<sampler::Sampler> draft_sampler_;  // where the head drafts only a part of the vocabulary
  std::unordered_map<uint64_t, std::unique_ptr<ActiveRequest>> requests_;
  model::ForwardBatch batch_;
  std::vector<Flight> flights_;  // [Model::max_in_flight()], a ring; empty where steps run one by one
  size_t first_flight_ = 0, num_flights_ = 0;
  int32_t num_scored_requests_ = 0;  // rows to score are read from the last step's states: no other is in flight then
  uint64_t num_losses_ = 0;          // Model::num_losses() when the caches were last known to hold
  std::vector<ScoredRow> scored_rows_;  // of the step; reserved for all of it
  std::vector<int32_t> score_rows_;     // of those, the ones being projected; reserved for max_logits_rows
  SamplingParams score_params_;         // of a prompt's token: nothing but how many log probabilities
  size_t num_saves_done_ = 0;           // of the plan being committed: these slots are the cache's
  sampler::SampleOutput sampled_;
  Event event_;  // the one being made; reused so that a token allocates nothing
  Outbox outbox_;
  int32_t num_failed_steps_ = 0;  // of the device, one after the other
  bool is_dead_ = false;          // the device says that no later step can succeed
  Status fault_;                  // the last of them, once there is little hope
  speculate::Policy policy_;
  std::vector<speculate::Offer> offers_;        // of the step being planned
  std::vector<ActiveRequest*> offer_requests_;  // whose they are
  SpeculationStats speculation_;
  model::ForwardBatch draft_batch_;
  std::vector<size_t> draft_rows_;  // offers whose sequences have a row in it
  double draft_seconds_ = 0;        // of the step being made
  int32_t num_draft_steps_ = 0;
  int64_t num_steps_ = 0, num_computed_tokens_ = 0, num_generated_tokens_ = 0;
  Clock::duration plan_time_{}, forward_time_{}, sample_time_{};
  ActivityLog activity_;
  std::vector<uint64_t> awaited_;    // requests whose next mask is not known yet
  std::vector<int32_t> ahead_;       // tokens behind an answer; reserved
  Clock::time_point mask_deadline_;  // of the phase of the step
  int32_t num_held_rows_ = 0;        // with logits
  int64_t num_late_masks_ = 0;
  mutable std::mutex stats_mutex_;
  EngineStats stats_;  // guarded by stats_mutex_
};

}  // namespace pagoda::engine
