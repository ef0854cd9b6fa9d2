// Activity: the current state of each request of an engine, and its last steps. Recorded only while watched.
#pragma once

#include <cstdint>
#include <vector>

namespace pagoda {

enum class LaneState : int32_t {
  waiting = 0,  // not admitted yet
  reading,      // its prompt is being computed, or recomputed after a preemption
  answering,    // generates a token in each step
  preempted,    // preempted, and waits to resume
};

struct Lane {  // one request
  uint64_t request_id = 0;
  LaneState state = LaneState::waiting;
  int32_t num_prompt_tokens = 0;
  int32_t num_cached_tokens = 0;    // prompt tokens found in the prefix cache
  int32_t num_computed_tokens = 0;  // tokens of prompt and answer together
  int32_t num_generated_tokens = 0;
  int32_t max_generated_tokens = 0;
  int32_t num_preemptions = 0;
};

struct StepRecord {
  int64_t step_index = 0;       // as counted by EngineStats::num_steps
  int32_t num_read_tokens = 0;  // prompt tokens
  int32_t num_answering = 0;    // sequences that computed a token of their answers
  int32_t num_drafts = 0;
  int32_t num_preempted = 0;
  double seconds = 0;
};

struct Activity {
  std::vector<Lane> lanes;        // running requests, oldest first, then waiting ones; at most kMaxLanes
  std::vector<StepRecord> steps;  // the last steps while watched, oldest first; at most kMaxStepRecords
};

constexpr int32_t kMaxLanes = 128;
constexpr int32_t kMaxStepRecords = 256;

}  // namespace pagoda
