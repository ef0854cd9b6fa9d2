// Activity: what each request of an engine does at this moment, and its last steps. Recorded only while it is watched.
#pragma once

#include <cstdint>
#include <vector>

namespace pagoda {

enum class LaneState : int32_t {
  waiting = 0,  // not admitted yet
  reading,      // its prompt is being computed, or what a preemption gave up of it
  answering,    // a token in each step
  preempted,    // gave up its memory, and waits to be read again
};

struct Lane {  // one request
  uint64_t request_id = 0;
  LaneState state = LaneState::waiting;
  int32_t num_prompt_tokens = 0;
  int32_t num_cached_tokens = 0;    // prompt tokens that the prefix cache had
  int32_t num_computed_tokens = 0;  // of prompt and answer
  int32_t num_generated_tokens = 0;
  int32_t max_generated_tokens = 0;
  int32_t num_preemptions = 0;
};

struct StepRecord {
  int64_t step_index = 0;       // as EngineStats::num_steps counts them
  int32_t num_read_tokens = 0;  // of prompts
  int32_t num_answering = 0;    // sequences that computed a token of their answers
  int32_t num_drafts = 0;
  int32_t num_preempted = 0;
  double seconds = 0;
};

struct Activity {
  std::vector<Lane> lanes;        // those that run, the oldest first, then those that wait; at most kMaxLanes
  std::vector<StepRecord> steps;  // the last ones while it was watched, the oldest first; at most kMaxStepRecords
};

constexpr int32_t kMaxLanes = 128;
constexpr int32_t kMaxStepRecords = 256;

}  // namespace pagoda
