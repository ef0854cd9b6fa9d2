// EngineCore: the step. Owns the requests in flight and advances them: plan -> batch -> forward -> sample -> commit.
// State: the caches and the scheduler, and one object for each part of a step, which has its own contract.
// Thread rule: one thread drives it (EngineThread's, or a test's); events are sent from inside step() and cancel().
// If the device works in parallel with the host, events of a step may be sent while the next step runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "engine/core/caller_prefixes.h"
#include "engine/core/core_config.h"
#include "engine/core/device_faults.h"
#include "engine/core/event_writer.h"
#include "engine/core/flights.h"
#include "engine/core/image_queue.h"
#include "engine/core/prefix_restorer.h"
#include "engine/core/request_builder.h"
#include "engine/core/request_table.h"
#include "engine/core/step_recorder.h"
#include "engine/rows/drafting.h"
#include "engine/rows/mask_gate.h"
#include "engine/rows/owner_rows.h"
#include "engine/rows/prompt_scorer.h"
#include "engine/rows/token_sampler.h"
#include "engine/tier/prefix_copier.h"
#include "model/model.h"
#include "scheduler/scheduler.h"
#include "scheduler/step_budget.h"

namespace pagoda::engine {

class EngineCore {
 public:
  EngineCore(model::Model& model, CoreConfig config, TestHooks hooks = {});

  // Validates a request against fixed limits and prepares it. May be called from any thread, at any time. After an
  // error no event is ever sent for it.
  Result<std::unique_ptr<ActiveRequest>> prepare(const Request& request, uint64_t id, EventCallback callback,
                                                 void* context) const {
    return builder_.build(request, id, callback, context);
  }
  Status place_adapter(const Adapter& adapter, const model::AdapterImage& image);  // between two steps
  // None of these throws. A request for which there is no memory ends with out_of_memory; the others continue.
  void add(std::unique_ptr<ActiveRequest> request) noexcept;  // to the end of the queue
  void cancel(uint64_t id) noexcept;                          // unknown ids have finished: no effect
  void end_all(FinishReason reason, const Status& status) noexcept;
  // See Engine::answer_row().
  void answer_row(uint64_t id, int32_t token_index, std::span<const float> logits, int32_t token_id) noexcept;

  bool has_work() const noexcept {
    return scheduler_.has_work() || images_.num_waiting() > 0 || restorer_.is_copying();
  }
  void step() noexcept;  // one forward pass; nothing if there is no work
  // Whether the last step found nothing to compute because the owners of requests have not answered their rows.
  bool waits_for_owners() const noexcept { return owners_.num_rows() > 0 && !has_planned_; }

  // How many of these tokens are cached, and how many a request with this salt would not compute again. Any thread, at
  // any time, including inside an event: does not wait for a step, and does not change the cache.
  PrefixMatch find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  bool has_grammar(const GrammarSpec& spec) const { return builder_.grammars().has(spec); }
  Status compile_grammar(const GrammarSpec& spec) const { return builder_.grammars().find_or_compile(spec).status; }
  // See Engine. Any thread, at any time.
  PrefixFilesResult prefix_files(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const;
  Status add_prefix_file(const std::string& path, const std::string& name) const;

  // The driving thread.
  CallerPrefixes& prefixes() noexcept { return prefixes_; }
  PrefixPin pin_prefix(const std::string& salt, std::span<const int32_t> tokens);
  void unpin_prefix(uint64_t pin_id) noexcept;
  const speculate::Policy& policy() const noexcept { return drafting_.policy(); }

  // Any thread. Up to date whenever an event is being sent and between steps.
  EngineStats stats() const;
  ActivityLog& activity() noexcept { return recorder_.activity(); }

 private:
  double now() const;  // seconds, for the scheduler
  Status ready() noexcept;
  void accept_losses() noexcept;
  void lose_all(const Status& status) noexcept;

  void end_copies() noexcept;

  // The parts of a step, in order.
  void admit_images() noexcept;
  bool launch_next() noexcept;  // false if there is nothing to launch
  void resume_settled() noexcept;
  bool plan(Flight& flight) noexcept;
  Status build(Flight& flight) noexcept;
  void wait() noexcept;
  void land_oldest() noexcept;
  Status finish_model(const Flight& flight) noexcept;
  void commit(Flight& flight) noexcept;
  void fail_rows(Flight& flight, const Status& status) noexcept;
  void drop_flights() noexcept;

  // Of one request (commit.cpp).
  void commit_row(const scheduler::ScheduledSequence& row, size_t logits_row, Flight& flight);
  void commit_tokens(ActiveRequest& request, int32_t num_drafts, size_t first_row);
  // Returns false if this was the last token. `held`: the logits, if they are not the model's.
  bool commit_token(ActiveRequest& request, size_t logits_row, std::span<const float> held = {});
  void resume(ActiveRequest& request) noexcept;
  void publish(request::Sequence& sequence, Flight& flight);
  void give_back_saves(Flight& flight, const request::Sequence* sequence) noexcept;
  void finish(ActiveRequest& request, FinishReason reason, Status status) noexcept;

  void publish_stats() noexcept;

  model::Model& model_;
  const CoreConfig config_;
  const TestHooks hooks_;
  cache::BlockManager blocks_;
  cache::StatePool states_;
  cache::PrefixCache cache_;
  scheduler::Scheduler scheduler_;
  scheduler::StepBudget budget_;
  RequestBuilder builder_;
  RequestTable requests_;
  ImageQueue images_;
  PrefixCopier copier_;
  PrefixRestorer restorer_;
  CallerPrefixes prefixes_;
  model::ForwardBatch batch_;  // of the step launched last
  Flights flights_;
  MaskGate masks_;
  TokenSampler sampler_;
  OwnerRows owners_;
  Drafting drafting_;
  EventWriter events_;
  PromptScorer scorer_;
  DeviceFaults faults_;
  StepRecorder recorder_;
  uint64_t num_losses_ = 0;  // Model::num_losses() when the caches were last valid
  bool has_planned_ = true;  // the last step had rows
};

}  // namespace pagoda::engine
