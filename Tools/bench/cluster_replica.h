// A replica without weights: the engine's scheduler, its prefix cache and its step budget, in virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cache/block_manager.h"
#include "cache/checkpoint_plan.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "request/sequence.h"
#include "scheduler/scheduler.h"
#include "scheduler/step_budget.h"

namespace pagoda::simulation {

constexpr int32_t kTurnEnd = 0;  // the token that ends a message

struct ReplicaShape {
  int64_t num_blocks = 8192;  // of 16 tokens
  int32_t max_num_seqs = 16;
  int32_t max_checkpoints = 48;
  int32_t max_batched_tokens = 512;
  double step_seconds = 0.025;   // reading the weights once
  double token_seconds = 0.001;  // computing a token of a prompt
};

struct Finished {
  uint64_t id = 0;
  int32_t num_prompt_tokens = 0, num_cached_tokens = 0;
  double first_token = 0, end = 0;  // timestamps
  std::vector<int32_t> tokens;      // prompt and answer
};

class Replica {
 public:
  explicit Replica(const ReplicaShape& shape)
      : shape_(shape),
        blocks_(shape.num_blocks, 16),
        states_(shape.max_num_seqs + shape.max_checkpoints),
        cache_(blocks_, states_, /*has_state=*/true, shape.max_checkpoints),
        scheduler_({.num_state_slots = shape.max_num_seqs + shape.max_checkpoints,
                    .max_num_tokens = shape.max_batched_tokens,
                    .max_num_seqs = shape.max_num_seqs,
                    .max_state_saves = 8,
                    .max_model_len = static_cast<int32_t>(shape.num_blocks * 16)},
                   blocks_, states_, cache_),
        budget_({}, shape.max_batched_tokens) {}

  int32_t num_running() const noexcept { return scheduler_.num_running(); }
  int32_t num_waiting() const noexcept { return scheduler_.num_waiting(); }
  int32_t load() const noexcept { return num_running() + num_waiting(); }
  int64_t num_computed_tokens() const noexcept { return num_computed_tokens_; }
  double busy_seconds() const noexcept { return busy_seconds_; }
  bool is_stepping() const noexcept { return is_stepping_; }
  bool is_up() const noexcept { return is_up_; }  // routers know: checks fail, and connections are refused
  void set_up(bool is_up) noexcept { is_up_ = is_up; }
  double token_seconds() const noexcept { return shape_.token_seconds; }
  int32_t num_cached(std::span<const int32_t> prompt) const noexcept { return cache_.look_up("", prompt).num_tokens; }

  void submit(uint64_t id, std::vector<int32_t> prompt, int32_t num_answer_tokens) {
    auto request = std::make_unique<Request>();
    request::Sequence& sequence = request->sequence;
    sequence.id = id;
    sequence.tokens = std::move(prompt);
    sequence.num_prompt_tokens = sequence.num_tokens();
    sequence.max_num_tokens = sequence.num_tokens() + num_answer_tokens;
    sequence.tokens.reserve(static_cast<size_t>(sequence.max_num_tokens));
    sequence.uses_cache = true;
    const int32_t ends[] = {kTurnEnd};
    sequence.checkpoint_positions =
        cache::plan_checkpoints(sequence.tokens, ends, {}, std::max(2, shape_.max_checkpoints / 2));
    sequence.checkpoint_positions.reserve(sequence.checkpoint_positions.size() + 1);
    scheduler_.add(&sequence);
    requests_.emplace(id, std::move(request));
  }

  // Plans a step and returns its duration; 0 if there is nothing to do.
  double begin_step() {
    const int32_t num_decoding = scheduler_.num_decoding();
    const scheduler::StepPlan& plan = scheduler_.schedule(budget_.max_tokens(num_decoding));
    if (plan.sequences.empty()) return 0;
    const int32_t num_rows = static_cast<int32_t>(plan.sequences.size());
    const double seconds = shape_.step_seconds + shape_.token_seconds * (plan.num_tokens() - num_rows);
    budget_.note(plan.num_tokens(), num_rows, seconds, num_decoding);
    busy_seconds_ += seconds;
    is_stepping_ = true;
    return seconds;
  }

  // Commits the step that ends now and returns the requests that finished with it.
  std::vector<Finished> end_step(double now) {
    is_stepping_ = false;
    std::vector<Finished> finished;
    const scheduler::StepPlan& plan = scheduler_.plan();
    size_t next_save = 0;
    for (const scheduler::ScheduledSequence& row : plan.sequences) {
      request::Sequence& sequence = *row.sequence;
      sequence.num_computed_tokens += row.num_tokens;
      sequence.has_fresh_slot = false;
      num_computed_tokens_ += row.num_tokens;
      cache_.publish(sequence);
      for (; next_save < plan.saves.size() && plan.saves[next_save].sequence == &sequence; ++next_save)
        cache_.add_checkpoint(sequence, plan.saves[next_save].position, plan.saves[next_save].slot);
      if (sequence.num_uncomputed() > 0) continue;
      Request& request = *requests_.at(sequence.id);
      if (request.first_token == 0) request.first_token = now;
      const bool is_last = sequence.num_tokens() + 1 == sequence.max_num_tokens;
      sequence.tokens.push_back(is_last ? kTurnEnd : 1 + static_cast<int32_t>((sequence.id * 31 + 7) % 997));
      if (!is_last) continue;
      finished.push_back({sequence.id, sequence.num_prompt_tokens, sequence.num_cached_tokens, request.first_token, now,
                          sequence.tokens});
      scheduler_.remove(&sequence, /*is_good=*/true);
      requests_.erase(finished.back().id);
    }
    return finished;
  }

 private:
  struct Request {
    request::Sequence sequence;
    double first_token = 0;
  };

  ReplicaShape shape_;
  cache::BlockManager blocks_;
  cache::StatePool states_;
  cache::PrefixCache cache_;
  scheduler::Scheduler scheduler_;
  scheduler::StepBudget budget_;
  std::map<uint64_t, std::unique_ptr<Request>> requests_;
  int64_t num_computed_tokens_ = 0;
  double busy_seconds_ = 0;
  bool is_stepping_ = false, is_up_ = true;
};

}  // namespace pagoda::simulation
