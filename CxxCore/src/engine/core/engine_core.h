// EngineCore: the step. Owns the requests in flight and advances them: plan -> batch -> forward -> sample -> commit.
// Thread rule: one thread drives it (EngineThread's, or a test's); events are sent from inside step() and cancel().
// If the device works in parallel with the host, events of a step may be sent while the next step runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "engine/active_request.h"
#include "engine/activity_log.h"
#include "engine/adapters.h"
#include "engine/disk/store.h"
#include "engine/dry_breakers.h"
#include "engine/image_outputs.h"
#include "engine/outbox.h"
#include "engine/row_sampler.h"
#include "engine/thinking.h"
#include "engine/tier/host_store.h"
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_tiers.h"
#include "grammar/grammar_cache.h"
#include "grammar/mask/worker.h"
#include "model/model.h"
#include "pagoda/event.h"
#include "pagoda/prefix_match.h"
#include "pagoda/request.h"
#include "pagoda/statistics.h"
#include "sampler/draw_lists.h"
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
  std::function<double()> clock;  // seconds, for the bounds on waiting; null: the system's. For tests
  scheduler::StepTimes step_times;
  int64_t state_slot_bytes = 0;
  std::shared_ptr<HostStore> host;            // null: prefixes are not kept in host memory
  std::shared_ptr<DiskStore> disk;            // null: prefixes are not kept on disk
  std::shared_ptr<model::VisionTower> tower;  // null: no images
  std::shared_ptr<Adapters> adapters;         // null: no LoRA adapters
  std::string no_images;                      // why there is none
  int64_t image_cache_bytes = 0;
  std::shared_ptr<const ImageFiles> image_files;  // null: results of the tower are only in memory
  device::Device* device = nullptr;               // its health is checked after a failed step; null: only the model's
  std::vector<int32_t> eos_token_ids;
  int32_t num_sample_threads = 1;
  bool has_mask_thread = false;                 // masks are computed in parallel with the steps, otherwise within them
  bool uses_head = false;                       // drafts from the model's MTP head
  bool uses_lookup = false;                     // drafts from earlier text, and forced tokens
  int32_t max_drafts = 0;                       // per sequence and step; 0: none
  bool takes_all_drafts = false;                // regardless of their cost: for tests and measurements
  std::shared_ptr<speculate::Drafter> drafter;  // replaces all others and the policy: for tests
  bool admits_drafter = false;                  // the policy also decides about its drafts: for measurements
  std::shared_ptr<const speculate::Policy> policy;      // learned by another core of the model: for measurements
  std::function<void()> before_mask;                    // see MaskWorker: for tests
  std::shared_ptr<const text::BpeTokenizer> tokenizer;  // null: events carry ids only
};

class EngineCore {
 public:
  EngineCore(model::Model& model, CoreConfig config);

  // Validates a request against fixed limits and prepares it. May be called from any thread, at any time. After an
  // error no event is ever sent for it.
  Result<std::unique_ptr<ActiveRequest>> prepare(const Request& request, uint64_t id, EventCallback callback,
                                                 void* context) const;
  Status place_adapter(const Adapter& adapter, const model::AdapterImage& image);  // between two steps
  // None of these throws. A request for which there is no memory ends with out_of_memory; the others continue.
  void add(std::unique_ptr<ActiveRequest> request) noexcept;  // to the end of the queue
  void cancel(uint64_t id) noexcept;                          // unknown ids have finished: no effect
  void end_all(FinishReason reason, const Status& status) noexcept;
  // See Engine::answer_row().
  void answer_row(uint64_t id, int32_t token_index, std::span<const float> logits, int32_t token_id) noexcept;

  bool has_work() const noexcept { return scheduler_.has_work() || !unseen_.empty(); }
  void step() noexcept;  // one forward pass; nothing if there is no work
  // Whether the last step found nothing to compute because the owners of requests have not answered their rows.
  bool waits_for_owners() const noexcept { return num_rows_with_owners_ > 0 && !has_planned_; }

  // How many of these tokens are cached, and how many a request with this salt would not compute again. Any thread, at
  // any time, including inside an event: does not wait for a step, and does not change the cache.
  PrefixMatch find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  bool has_grammar(const GrammarSpec& spec) const { return grammars_.has(spec); }
  Status compile_grammar(const GrammarSpec& spec) const { return grammars_.find_or_compile(spec).status; }
  // See Engine. Any thread, at any time.
  PrefixFilesResult prefix_files(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  Status add_prefix_file(const std::string& path, const std::string& name) const;

  // Prefixes in the cache; on the thread that steps. Positions are numbers of tokens. cached_prefix: the longest prefix
  // of these tokens. copy_prefix: the blocks of `tokens`, which must be cached, from the block at `first` on, and the
  // state after them if `wants_state`. place_prefix: the reverse; blocks before those of `content` must be cached.
  int32_t cached_prefix(std::string_view salt, std::span<const int32_t> tokens) const noexcept;
  Result<PrefixStore::ContentPtr> copy_prefix(const std::string& salt, std::span<const int32_t> tokens,
                                              io::PrefixFileHead head);
  Status place_prefix(const std::string& salt, const PrefixStore::Content& content, bool wants_state);
  PrefixPin pin_prefix(const std::string& salt, std::span<const int32_t> tokens);
  void unpin_prefix(uint64_t pin_id) noexcept;

  // Any thread. Up to date whenever an event is being sent and between steps.
  EngineStats stats() const;
  const speculate::Policy& policy() const noexcept { return policy_; }  // the driving thread
  ActivityLog& activity() noexcept { return activity_; }                // as current as the stats, while watched

 private:
  // A step of a model that has several in flight (flights.cpp).
  struct Flight {
    scheduler::StepPlan plan;
    int32_t num_tokens = 0, num_decoding = 0;
    Clock::time_point launched;
  };
  void step_in_flight() noexcept;
  bool launch_next() noexcept;  // false if there is nothing to launch
  void land_oldest() noexcept;
  void drop_flights() noexcept;
  void lose_all(const Status& status) noexcept;
  void note_losses() noexcept;
  Status ready() noexcept;

  Status prepare_adapter(const Request& request, ActiveRequest& active) const;
  void publish_admissions() noexcept;
  void publish_stats() noexcept;
  double now() const;                       // seconds, for the scheduler
  request::Sequence* read_next() noexcept;  // the sequence that has read a prefix, or null
  const scheduler::StepPlan* schedule() noexcept;
  Status forward(const scheduler::StepPlan& plan, Clock::time_point begin) noexcept;  // begin: start of the step
  void note_result(const Status& status) noexcept;
  void fail_rows(const scheduler::StepPlan& plan, const Status& status) noexcept;
  void commit(const scheduler::StepPlan& plan) noexcept;
  void publish(request::Sequence& sequence, const scheduler::StepPlan& plan);
  void give_back_saves(const scheduler::StepPlan& plan, const request::Sequence* sequence) noexcept;
  void report_progress(ActiveRequest& request);
  void commit_tokens(ActiveRequest& request, int32_t num_drafts, size_t logits_row);
  // Returns false if this was the last token. `held`: the logits, if they are not the model's.
  bool commit_token(ActiveRequest& request, size_t logits_row, std::span<const float> held = {});
  void draft_tokens() noexcept;
  void offer_all();
  void offer_drafts(ActiveRequest& request, int32_t max_drafts);
  void offer_proposed(ActiveRequest& request, int32_t max_drafts);
  void draft_forced(ActiveRequest& request, int32_t max_drafts);
  void draft_with_head();
  void cut_head_drafts();
  bool sample_draft(ActiveRequest& request, size_t row, int32_t index);
  void cut_drafts(ActiveRequest& request);
  void note_drafts(ActiveRequest& request, int32_t num_drafts, int32_t num_accepted);
  Status check_outputs(const Request& request) const;
  void prepare_cache(const Request& request, request::Sequence& sequence) const;
  Status prepare_images(const Request& request, ActiveRequest& active) const;
  bool find_images(ActiveRequest& request);
  static bool has_images(ActiveRequest& request) noexcept;
  void advance_images() noexcept;
  sampler::SampleInput sample_input(ActiveRequest& request, const Thinking& thinking, int32_t num_generated);
  Draw draw_for(ActiveRequest& request, const Thinking& thinking, std::span<const int32_t> ahead,
                model::ForwardBatch& batch);
  void ask_for_tokens(const scheduler::StepPlan& plan);
  bool is_picked(size_t logits_row) const noexcept;
  void sample_ahead(const scheduler::StepPlan& plan) noexcept;
  Status sample(ActiveRequest& request, size_t logits_row, std::span<const float> held);
  void begin_mask_wait(Clock::time_point now) noexcept;
  bool find_document_position(ActiveRequest& request,
                              Clock::time_point deadline);  // returns false if it is not computed by then
  bool has_mask(ActiveRequest& request);
  void await_document_position(ActiveRequest& request);
  void hold_row(ActiveRequest& request, size_t logits_row);
  void settle_masks() noexcept;
  void resume(ActiveRequest& request) noexcept;
  void wait_for_masks() noexcept;
  bool hand_out_row(ActiveRequest& request, std::span<const float> logits);
  Status take_chosen(ActiveRequest& request, sampler::SampleInput& input);
  Status check_single_machine() const;
  bool drop_oldest_pin() noexcept;
  struct ScoredRow {
    ActiveRequest* request = nullptr;
    int32_t row = 0;       // row of the batch
    int32_t position = 0;  // position of its token in the sequence; the next one is scored
  };
  void find_scored_rows(const scheduler::StepPlan& plan);
  Status score() noexcept;
  void score(const ScoredRow& row, size_t logits_row);
  Status pool(const scheduler::StepPlan& plan) noexcept;
  Status pool(ActiveRequest& request, int32_t first_row, int32_t num_rows);
  void check_token(ActiveRequest& request, int32_t token_id);
  bool follow(ActiveRequest& request, int32_t token_id);
  bool append_text(ActiveRequest& request, int32_t token_id, bool is_thought);  // true if a stop string ended it
  void finish(ActiveRequest& request, FinishReason reason, Status status) noexcept;
  void open_tiers();
  void leave_to_tiers(const request::Sequence& sequence) noexcept;
  int64_t default_max_tokens(int64_t num_prompt_tokens) const noexcept;

  model::Model& model_;
  CoreConfig config_;
  ThinkingFormat thinking_format_;
  mutable grammar::GrammarCache grammars_;  // locks itself
  mutable DryBreakers dry_breakers_;        // locks itself
  grammar::MaskWorker masks_;
  cache::BlockManager blocks_;
  cache::StatePool states_;
  cache::PrefixCache cache_;
  scheduler::Scheduler scheduler_;
  scheduler::StepBudget budget_;
  int32_t num_decoding_ = 0;  // sequences decoding when the step was planned
  PrefixCopier copier_;
  std::optional<PrefixTiers> tiers_;  // stores for prefixes that the caches cannot keep
  sampler::Sampler sampler_;
  std::optional<RowSampler> row_sampler_;         // if several threads sample
  std::optional<sampler::DrawLists> draw_lists_;  // if the model samples
  speculate::PastTexts past_texts_;
  std::optional<sampler::Sampler> draft_sampler_;  // if the head drafts only part of the vocabulary
  std::unordered_map<uint64_t, std::unique_ptr<ActiveRequest>> requests_;
  ImageOutputs images_;
  std::vector<uint64_t> unseen_;  // requests with an image that is not computed yet, in order; not scheduled
  model::ForwardBatch batch_;
  std::vector<Flight> flights_;  // [Model::max_in_flight()], a ring; empty if steps run one by one
  size_t first_flight_ = 0, num_flights_ = 0;
  int32_t num_scored_requests_ = 0;     // scoring reads the last step's states: no other step may be in flight
  uint64_t num_losses_ = 0;             // Model::num_losses() when the caches were last valid
  std::vector<ScoredRow> scored_rows_;  // rows of the current step; reserved for the largest step
  std::vector<int32_t> score_rows_;     // the rows being projected; reserved for max_logits_rows
  SamplingParams score_params_;         // for a prompt's token: only the number of log probabilities
  size_t num_saves_done_ = 0;           // saves of the plan being committed whose slots already belong to the cache
  sampler::SampleOutput sampled_;
  Event event_;  // the current event; reused so that a token allocates nothing
  Outbox outbox_;
  int32_t num_failed_steps_ = 0;  // consecutive failures of the device
  bool is_dead_ = false;          // the device reports that no later step can succeed
  Status fault_;                  // the last failure, once recovery is unlikely
  speculate::Policy policy_;
  std::vector<speculate::Offer> offers_;        // for the step being planned
  std::vector<ActiveRequest*> offer_requests_;  // the requests of the offers
  SpeculationStats speculation_;
  model::ForwardBatch draft_batch_;
  std::vector<size_t> draft_rows_;  // offers whose sequences have a row in the batch
  double draft_seconds_ = 0;        // of the current step
  int32_t num_draft_steps_ = 0;
  int64_t num_steps_ = 0, num_computed_tokens_ = 0, num_generated_tokens_ = 0;
  Clock::duration plan_time_{}, forward_time_{}, sample_time_{};
  ActivityLog activity_;
  std::vector<uint64_t> awaited_;    // requests whose next mask is not ready
  std::vector<int32_t> ahead_;       // tokens after an answer; reserved
  Clock::time_point mask_deadline_;  // for the current phase of the step
  int32_t num_held_rows_ = 0;        // rows that keep their logits
  int64_t num_late_masks_ = 0;
  int32_t num_rows_with_owners_ = 0;
  std::vector<float> shown_row_;  // [vocab], for owners; allocated with the first request that needs it
  bool has_planned_ = true;       // the last step had rows
  std::map<uint64_t, cache::PrefixCache::Pin> pins_;
  int64_t num_pinned_blocks_ = 0;
  uint64_t last_pin_ = 0;
  mutable std::mutex stats_mutex_;
  EngineStats stats_;  // guarded by stats_mutex_
};

}  // namespace pagoda::engine
