// A burst of agents over one long shared prompt on a cold engine, in virtual time: the real scheduler and caches, a
// step that takes as long as its tokens say, and agents that send their next turn as soon as they have an answer.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "engine/fake_harness.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;

constexpr int32_t kTurnEnd = 96, kAnswer = 24, kResult = 60;
constexpr int32_t kSharedTokens = 3400;  // tokens: the instructions and tools

struct BurstSize {
  int32_t num_agents = 100;
  int32_t num_checkpoints = 32;
  bool has_state = true;
  int32_t num_turns = 400;  // of all agents together
  uint64_t seed = 1;
};

struct Agent {
  std::vector<int32_t> prompt;
  std::unique_ptr<Recorder> answer;
  int32_t num_own = 0;  // tokens of its first prompt after the shared ones
  int32_t num_turns = 0;
  double sent = 0, first_token = -1;  // of the first turn, in virtual seconds
  bool is_seen = false;               // the current turn has its first token
};

struct BurstOutcome {
  double fairness = 0, median = 0, p95 = 0;  // Jain's index over turns; seconds to the first token of the first turn
  int64_t num_first_tokens = 0;              // prompt tokens computed for first turns
  int64_t num_own = 0;                       // those that no other agent has
  double computed_over_ideal = 0;            // tokens of all turns, if every state were kept
};

class Fleet {
 public:
  explicit Fleet(const BurstSize& burst)
      : burst_(burst),
        rng_(burst.seed),
        harness_({.num_blocks = 8192,
                  .max_num_seqs = 16,
                  .max_num_tokens = 256,
                  .has_state = burst.has_state,
                  .max_checkpoints = burst.num_checkpoints,
                  .clock = [this] { return now_; }},
                 {kTurnEnd}),
        agents_(static_cast<size_t>(burst.num_agents)) {}

  BurstOutcome run() {
    std::vector<int32_t> shared = tokens(kSharedTokens - 1);
    shared.push_back(kTurnEnd);
    for (Agent& agent : agents_) {
      agent.prompt = shared;
      add_message(agent, 80 + static_cast<int32_t>(rng_() % 80));
      agent.num_own = static_cast<int32_t>(agent.prompt.size()) - kSharedTokens;
      outcome_.num_own += agent.num_own;
      send(agent);
    }
    num_ideal_ = kSharedTokens;
    while (num_done_ < burst_.num_turns && !test::failed()) step();
    return summary();
  }

 private:
  std::vector<int32_t> tokens(int32_t count) {
    std::vector<int32_t> list(static_cast<size_t>(count));
    for (int32_t& token : list) token = static_cast<int32_t>(rng_() % kTurnEnd);
    return list;
  }

  // A message, and the tokens with which the template opens the answer.
  void add_message(Agent& agent, int32_t length) {
    const std::vector<int32_t> message = tokens(length);
    agent.prompt.insert(agent.prompt.end(), message.begin(), message.end());
    agent.prompt.insert(agent.prompt.end(), {kTurnEnd, 1, 2, 3});
  }

  void send(Agent& agent) {
    Request request;
    request.prompt_ids = agent.prompt;
    request.sampling.max_tokens = kAnswer;
    request.sampling.temperature = 0;
    request.sampling.ignore_eos = true;
    agent.answer = std::make_unique<Recorder>();
    agent.is_seen = false;
    if (agent.num_turns == 0) agent.sent = now_;
    CHECK_OK(harness_.add(request, ++last_id_, *agent.answer));
  }

  void step() {
    const int64_t before = harness_.core->stats().num_computed_tokens;
    harness_.core->step();
    now_ += 0.002 + 0.0005 * static_cast<double>(harness_.core->stats().num_computed_tokens - before);
    for (Agent& agent : agents_) {
      if (!agent.is_seen && !agent.answer->tokens.empty()) {
        agent.is_seen = true;
        if (agent.num_turns == 0) agent.first_token = now_;
      }
      if (agent.answer->finished) end_turn(agent);
    }
  }

  void end_turn(Agent& agent) {
    CHECK(agent.answer->reason == FinishReason::length);
    const Usage& usage = agent.answer->usage;
    if (agent.num_turns == 0) outcome_.num_first_tokens += usage.prompt_tokens - usage.cached_tokens;
    num_ideal_ += kAnswer - 1 + (agent.num_turns == 0 ? agent.num_own : kResult + 6);
    ++agent.num_turns;
    ++num_done_;
    agent.prompt.insert(agent.prompt.end(), agent.answer->tokens.begin(), agent.answer->tokens.end());
    agent.prompt.push_back(kTurnEnd);
    add_message(agent, kResult);
    send(agent);
  }

  BurstOutcome summary() {
    double sum = 0, squares = 0;
    std::vector<double> times;
    for (const Agent& agent : agents_) {
      sum += agent.num_turns;
      squares += double(agent.num_turns) * agent.num_turns;
      if (agent.first_token >= 0) times.push_back(agent.first_token - agent.sent);
    }
    CHECK_EQ(times.size(), agents_.size());  // all have their first answer
    std::ranges::sort(times);
    outcome_.fairness = sum * sum / (static_cast<double>(agents_.size()) * squares);
    outcome_.median = times[times.size() / 2];
    outcome_.p95 = times[times.size() * 95 / 100];
    outcome_.computed_over_ideal =
        static_cast<double>(harness_.core->stats().num_computed_tokens) / static_cast<double>(num_ideal_);
    const EngineStats stats = harness_.core->stats();
    test::note("Jain " + std::to_string(outcome_.fairness) + ", first turn p50 " + std::to_string(outcome_.median) +
               " s, p95 " + std::to_string(outcome_.p95) + " s, computed over ideal " +
               std::to_string(outcome_.computed_over_ideal) + ", first turns computed " +
               std::to_string(outcome_.num_first_tokens) + " of " + std::to_string(kSharedTokens + outcome_.num_own) +
               ", evictions " + std::to_string(stats.cache.num_checkpoint_evictions) + ", hits " +
               std::to_string(stats.cache.num_checkpoint_hits) + ", " + std::to_string(now_) + " s");
    harness_.core->end_all(FinishReason::cancelled, ok_status());
    return outcome_;
  }

  BurstSize burst_;
  std::mt19937_64 rng_;
  FakeHarness harness_;
  std::vector<Agent> agents_;
  BurstOutcome outcome_;
  double now_ = 0;
  uint64_t last_id_ = 0;
  int32_t num_done_ = 0;
  int64_t num_ideal_ = 0;
};

void check_burst(const BurstSize& burst, double most_over_ideal) {
  const BurstOutcome outcome = Fleet(burst).run();
  CHECK(outcome.fairness >= 0.95);
  CHECK(outcome.p95 <= 3 * outcome.median);
  CHECK_EQ(outcome.num_first_tokens, kSharedTokens + outcome.num_own);  // the shared prefix is computed once
  CHECK(outcome.computed_over_ideal <= most_over_ideal);
}

}  // namespace

PAGODA_TEST(engine_serves_a_burst_of_agents_evenly_and_computes_their_prefix_once) {
  check_burst({.num_checkpoints = 256, .seed = test::seed(1)}, 1.3);
}

PAGODA_TEST(engine_serves_a_burst_of_agents_evenly_with_few_checkpoints) {
  check_burst({.num_checkpoints = 32, .seed = test::seed(1)}, 3);
}

}  // namespace pagoda::engine
