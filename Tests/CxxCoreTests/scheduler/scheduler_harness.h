// Harness: a scheduler with its pools, and what the engine does after a step, for tests without an engine.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/scheduler.h"
#include "support/test.h"

namespace pagoda::scheduler {

using request::Sequence;
using request::SequenceState;

// A scheduler with its pools, and the part of the engine that appends a token to each sequence whose tokens are
// computed.
struct Harness {
  cache::BlockManager blocks;
  cache::StatePool states;
  EngineLimits limits;
  cache::PrefixCache cache;
  Scheduler scheduler;
  std::map<uint64_t, std::unique_ptr<Sequence>> alive;
  uint64_t next_id = 1;
  double now = 0;  // seconds

  Harness(int64_t num_blocks, int32_t block_size, const EngineLimits& l)
      : blocks(num_blocks, block_size),
        states(l.num_state_slots),
        limits(l),
        cache(blocks, states, l.has_state(), 0),
        scheduler(l, blocks, states, cache) {}

  Sequence* add(int prompt, int output, int32_t priority = 0, const std::string& share_id = "") {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = next_id++;
    sequence->tokens.assign(static_cast<size_t>(prompt), 1);
    sequence->num_prompt_tokens = prompt;
    sequence->max_num_tokens = prompt + output;
    sequence->priority = priority;
    sequence->share_id = share_id;
    Sequence* raw = sequence.get();
    alive.emplace(raw->id, std::move(sequence));
    scheduler.add(raw, now);
    return raw;
  }

  void commit(const StepPlan& plan) {
    for (const ScheduledSequence& row : std::vector<ScheduledSequence>(plan.sequences)) {
      Sequence& s = *row.sequence;
      s.num_computed_tokens += row.num_tokens;
      s.has_fresh_slot = false;
      cache.publish(s);
      if (s.num_uncomputed() > 0) continue;
      s.tokens.push_back(1);
      if (s.num_tokens() >= s.max_num_tokens) drop(&s);
    }
  }

  void drop(Sequence* sequence) {
    scheduler.remove(sequence, true);
    CHECK(sequence->block_table.empty());
    CHECK_EQ(sequence->state_slot, -1);
    alive.erase(sequence->id);
  }

  void check_plan(const StepPlan& plan) const {
    std::set<const Sequence*> seen;
    bool has_prompts = false;
    CHECK(plan.num_tokens() <= limits.max_num_tokens);
    CHECK(static_cast<int32_t>(plan.sequences.size()) <= limits.max_num_seqs);
    for (const ScheduledSequence& row : plan.sequences) {
      const Sequence& s = *row.sequence;
      CHECK(seen.insert(&s).second);
      CHECK(s.state == SequenceState::running);
      CHECK(row.num_tokens >= 1 && row.num_tokens <= s.num_uncomputed());
      CHECK(static_cast<int64_t>(s.block_table.size()) >= blocks.blocks_for(s.num_computed_tokens + row.num_tokens));
      CHECK_EQ(&s, plan.sequences[static_cast<size_t>(s.batch_index)].sequence);
      has_prompts = has_prompts || s.num_uncomputed() > 1;
    }
    for (const auto& [id, s] : alive) {  // prompts get the tokens left by decodes
      const bool decodes = s->state == SequenceState::running && s->num_uncomputed() == 1;
      if (has_prompts && decodes) CHECK(seen.count(s.get()));
      CHECK(s->num_passes <= kMaxPasses);
    }
    for (const Sequence* s : plan.preempted) CHECK(!seen.count(s) && s->state == SequenceState::waiting);
  }

  void check_accounts() const {  // every block and slot is free or held by exactly one sequence
    std::set<int32_t> held_blocks, held_slots;
    int32_t running = 0, waiting = 0;
    for (const auto& [id, s] : alive) {
      for (int32_t block : s->block_table) CHECK(held_blocks.insert(block).second && blocks.ref_count(block) == 1);
      if (s->state_slot >= 0) CHECK(held_slots.insert(s->state_slot).second && states.is_in_use(s->state_slot));
      CHECK_EQ(s->state_slot >= 0, limits.has_state() && s->state == SequenceState::running);
      if (s->state == SequenceState::waiting) CHECK(s->block_table.empty() && s->num_computed_tokens == 0);
      ++(s->state == SequenceState::running ? running : waiting);
    }
    CHECK_EQ(blocks.num_free() + static_cast<int64_t>(held_blocks.size()), blocks.num_blocks());
    CHECK_EQ(states.num_free() + static_cast<int32_t>(held_slots.size()), states.num_slots());
    CHECK_EQ(running, scheduler.num_running());
    CHECK_EQ(waiting, scheduler.num_waiting());
    CHECK(running <= limits.max_num_seqs);
  }
};

inline EngineLimits limits(int32_t seqs, int32_t tokens, bool has_state = true) {
  return {
      .num_state_slots = has_state ? seqs : 0, .max_num_tokens = tokens, .max_num_seqs = seqs, .max_model_len = 4096};
}

}  // namespace pagoda::scheduler
