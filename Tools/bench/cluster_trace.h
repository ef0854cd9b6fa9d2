// Traces for the simulation of many replicas: what agents send and when. Everything follows from the seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster_policy.h"
#include "cluster_replica.h"

namespace pagoda::simulation {

// What happens besides agents that come one by one to equal replicas.
struct Scenario {
  std::string_view name;
  bool has_bursts = false;    // agents come in groups that share their first prompt
  bool has_failures = false;  // replicas are killed and come back with empty caches
  bool is_mixed = false;      // every second replica is half as fast and has half the memory
};

constexpr Scenario kScenarios[] = {
    {.name = "agents"},
    {.name = "bursts", .has_bursts = true},
    {.name = "failures", .has_failures = true},
    {.name = "mixed", .is_mixed = true},
    {.name = "all", .has_bursts = true, .has_failures = true, .is_mixed = true},
};

struct Turn {
  int32_t num_new_tokens = 0;  // from the user or from a tool
  int32_t num_answer_tokens = 0;
  double pause = 0;  // seconds before the turn: the tool runs or the user thinks
};

struct Agent {
  double arrival = 0;
  uint64_t program = 0;  // agents of one program share its instructions and tools
  std::vector<Turn> turns;
  size_t next_turn = 0;
  std::vector<int32_t> tokens;  // the conversation so far
  double asked = 0;             // when the request in flight was first sent
};

struct Trace {
  std::vector<Agent> agents;
  static constexpr uint64_t kPrograms = 12;
};

inline int32_t token_of(uint64_t text, uint64_t index) {
  return 1 + static_cast<int32_t>(mixed(text * 1000003 + index) % 30000);
}

inline void append(std::vector<int32_t>& tokens, uint64_t text, int32_t count) {
  for (int32_t i = 0; i + 1 < count; ++i) tokens.push_back(token_of(text, static_cast<uint64_t>(i)));
  tokens.push_back(kTurnEnd);
}

inline int32_t log_normal(std::mt19937_64& random, double median, double sigma, int32_t least, int32_t most) {
  return std::clamp(static_cast<int32_t>(std::lognormal_distribution<double>(std::log(median), sigma)(random)), least,
                    most);
}

inline std::vector<Turn> make_turns(std::mt19937_64& random, int32_t count) {
  std::vector<Turn> turns;
  for (int32_t t = 0; t < count; ++t)
    turns.push_back({t == 0 ? log_normal(random, 600, 0.6, 50, 4000) : log_normal(random, 350, 0.9, 20, 4000),
                     log_normal(random, 90, 0.6, 8, 600), std::exponential_distribution<double>(1 / 2.5)(random)});
  return turns;
}

// Spreads arrivals so that replicas keep up if most tokens are cached, and do not if few are.
inline Trace make_trace(const Scenario& scenario, size_t num_agents, size_t num_replicas, uint64_t seed) {
  std::mt19937_64 random(seed);
  Trace trace;
  const double speed = scenario.is_mixed ? 0.75 : 1;  // of all replicas together
  const double seconds = 20.0 * static_cast<double>(num_agents) / static_cast<double>(num_replicas) / speed;
  std::uniform_real_distribution<double> arrival(0, seconds);
  for (uint64_t group = 0; trace.agents.size() < num_agents; ++group) {
    Agent agent;
    agent.arrival = arrival(random);
    agent.program = random() % Trace::kPrograms;
    const int32_t num_turns = 3 + static_cast<int32_t>(random() % 12);
    agent.turns = make_turns(random, num_turns);
    append(agent.tokens, 7 + agent.program, 1500 + static_cast<int32_t>(mixed(agent.program) % 1500));
    size_t size = 1;
    if (scenario.has_bursts) {  // the shared task: a repository, a document, the transcript of the agent that forks
      append(agent.tokens, (uint64_t{1} << 40) + group, log_normal(random, 3000, 0.5, 500, 12000));
      size = std::min<size_t>(8 + random() % 17, num_agents - trace.agents.size());
    }
    for (size_t i = 0; i + 1 < size; ++i) {
      Agent other = agent;
      other.turns = make_turns(random, 1 + static_cast<int32_t>(random() % 5));
      trace.agents.push_back(std::move(other));
    }
    trace.agents.push_back(std::move(agent));
  }
  return trace;
}

}  // namespace pagoda::simulation
