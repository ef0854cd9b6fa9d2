// Simulates many replicas behind a router: cache hits, waiting times and load balance by routing policy, for a trace
// of agents that each hold a conversation. No weights and no clock: scheduler and caches are the engine's own, time is
// simulated. Build: make -C Tools/native cluster_bench     Usage: cluster_bench [agents] [replicas] [seed]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "cluster_policy.h"
#include "cluster_replica.h"

namespace {

using namespace pagoda;
using namespace pagoda::simulation;

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
  double asked = 0;             // when the request in flight was sent
};

struct Trace {
  std::vector<Agent> agents;
  static constexpr uint64_t kPrograms = 12;
};

int32_t token_of(uint64_t text, uint64_t index) {
  return 1 + static_cast<int32_t>(mixed(text * 1000003 + index) % 30000);
}

void append(std::vector<int32_t>& tokens, uint64_t text, int32_t count) {
  for (int32_t i = 0; i + 1 < count; ++i) tokens.push_back(token_of(text, static_cast<uint64_t>(i)));
  tokens.push_back(kTurnEnd);
}

int32_t log_normal(std::mt19937_64& random, double median, double sigma, int32_t least, int32_t most) {
  return std::clamp(static_cast<int32_t>(std::lognormal_distribution<double>(std::log(median), sigma)(random)), least,
                    most);
}

// Spreads arrivals so that replicas keep up if most tokens are cached, and do not if few are.
Trace make_trace(size_t num_agents, size_t num_replicas, uint64_t seed) {
  std::mt19937_64 random(seed);
  Trace trace;
  const double seconds = 20.0 * static_cast<double>(num_agents) / static_cast<double>(num_replicas);
  std::uniform_real_distribution<double> arrival(0, seconds);
  for (size_t a = 0; a < num_agents; ++a) {
    Agent agent;
    agent.arrival = arrival(random);
    agent.program = random() % Trace::kPrograms;
    const int32_t num_turns = 3 + static_cast<int32_t>(random() % 12);
    for (int32_t t = 0; t < num_turns; ++t)
      agent.turns.push_back({t == 0 ? log_normal(random, 600, 0.6, 50, 4000) : log_normal(random, 350, 0.9, 20, 4000),
                             log_normal(random, 90, 0.6, 8, 600),
                             std::exponential_distribution<double>(1 / 2.5)(random)});
    append(agent.tokens, 7 + agent.program, 1500 + static_cast<int32_t>(mixed(agent.program) % 1500));
    trace.agents.push_back(std::move(agent));
  }
  return trace;
}

struct Outcome {
  int64_t num_requests = 0, num_prompt_tokens = 0, num_cached_tokens = 0;
  std::vector<double> first_tokens;  // seconds from the request
  double end = 0;
  double busy_spread = 0, most_load = 0;  // busiest replica over the mean; most concurrent requests on one replica
};

struct Event {
  double time;
  uint64_t order;
  bool is_step;  // a step of replica `index` ends; otherwise agent `index` sends a request
  size_t index;
  bool operator>(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
};

class Simulation {
 public:
  Simulation(Trace trace, size_t num_replicas, Policy& policy) : trace_(std::move(trace)), policy_(policy) {
    for (size_t r = 0; r < num_replicas; ++r) replicas_.push_back(std::make_unique<Replica>(ReplicaShape{}));
    for (size_t a = 0; a < trace_.agents.size(); ++a) push(trace_.agents[a].arrival, false, a);
  }

  Outcome run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (event.is_step) end_step(event.index);
      else ask(event.index);
    }
    outcome_.end = now_;
    double most = 0, sum = 0;
    for (const auto& replica : replicas_) {
      most = std::max(most, replica->busy_seconds());
      sum += replica->busy_seconds();
    }
    outcome_.busy_spread = most / (sum / static_cast<double>(replicas_.size()));
    return std::move(outcome_);
  }

 private:
  void push(double time, bool is_step, size_t index) { events_.push({time, num_events_++, is_step, index}); }

  void start(size_t r) {
    if (replicas_[r]->is_stepping()) return;
    if (const double seconds = replicas_[r]->begin_step(); seconds > 0) push(now_ + seconds, true, r);
  }

  void ask(size_t a) {
    Agent& agent = trace_.agents[a];
    const Turn& turn = agent.turns[agent.next_turn];
    append(agent.tokens, 1000 + a * 100 + agent.next_turn, turn.num_new_tokens);
    agent.asked = now_;
    const size_t r = policy_.choose(replicas_, a, agent.tokens);
    replicas_[r]->submit(a, agent.tokens, turn.num_answer_tokens);
    outcome_.most_load = std::max(outcome_.most_load, static_cast<double>(replicas_[r]->load()));
    start(r);
  }

  void end_step(size_t r) {
    for (Finished& done : replicas_[r]->end_step(now_)) {
      Agent& agent = trace_.agents[done.id];
      agent.tokens = std::move(done.tokens);
      ++outcome_.num_requests;
      outcome_.num_prompt_tokens += done.num_prompt_tokens;
      outcome_.num_cached_tokens += done.num_cached_tokens;
      outcome_.first_tokens.push_back(done.first_token - agent.asked);
      if (++agent.next_turn < agent.turns.size()) push(now_ + agent.turns[agent.next_turn].pause, false, done.id);
    }
    start(r);
  }

  Trace trace_;
  Policy& policy_;
  Replicas replicas_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t num_events_ = 0;
  double now_ = 0;
  Outcome outcome_;
};

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
}

void report(const char* name, Outcome outcome) {
  double sum = 0;
  for (const double t : outcome.first_tokens) sum += t;
  std::printf("| %s | %.1f %% | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f |\n", name,
              100.0 * static_cast<double>(outcome.num_cached_tokens) / static_cast<double>(outcome.num_prompt_tokens),
              sum / static_cast<double>(outcome.first_tokens.size()), quantile(outcome.first_tokens, 0.5),
              quantile(outcome.first_tokens, 0.99), outcome.busy_spread, outcome.most_load, outcome.end);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, long fallback) { return argc > i ? std::strtol(argv[i], nullptr, 10) : fallback; };
  const size_t num_agents = static_cast<size_t>(std::max(1L, argument(1, 1000)));
  const size_t num_replicas = static_cast<size_t>(std::max(1L, argument(2, 64)));
  const uint64_t seed = static_cast<uint64_t>(argument(3, 1));
  std::printf("%zu agents, %zu replicas, seed %llu\n\n", num_agents, num_replicas,
              static_cast<unsigned long long>(seed));
  std::printf(
      "| policy | tokens from the cache | first token, mean s | median s | p99 s | busiest / mean | most at once | all "
      "done s |\n|---|---|---|---|---|---|---|---|\n");
  const auto run = [&](const char* name, std::unique_ptr<Policy> policy) {
    report(name, Simulation(make_trace(num_agents, num_replicas, seed), num_replicas, *policy).run());
    std::fflush(stdout);
  };
  run("prefix router, 8 asked", std::make_unique<PrefixPolicy>(seed, 8, 512));
  run("prefix router, all asked", std::make_unique<PrefixPolicy>(seed, num_replicas, 512));
  run("prefix router, 8 asked, load counts little", std::make_unique<PrefixPolicy>(seed, 8, 32));
  run("prefix router, all asked, load counts little", std::make_unique<PrefixPolicy>(seed, num_replicas, 32));
  run("consistent hash", std::make_unique<ConsistentHashPolicy>(0));
  run("consistent hash, bounded at 1.5", std::make_unique<ConsistentHashPolicy>(1.5));
  run("random", std::make_unique<RandomPolicy>(seed));
  run("round robin", std::make_unique<RoundRobinPolicy>());
  return 0;
}
