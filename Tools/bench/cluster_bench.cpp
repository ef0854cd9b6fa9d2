// Simulates many replicas behind a router: cache hits, waiting times and load balance by routing policy, for a trace
// of agents that each hold a conversation. No weights and no clock: scheduler and caches are the engine's own, time is
// simulated. Build: make -C Tools/native cluster_bench
// Usage: cluster_bench [agents] [replicas] [seed] [scenario: agents, bursts, failures, mixed, all]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <queue>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster_policy.h"
#include "cluster_replica.h"
#include "cluster_trace.h"

namespace {

using namespace pagoda;
using namespace pagoda::simulation;

constexpr double kMeanLife = 300;    // seconds until a replica is killed
constexpr double kRestart = 20;      // until it is back
constexpr double kNoticeLoss = 0.5;  // until clients send the requests again that it had

struct Outcome {
  int64_t num_requests = 0, num_prompt_tokens = 0, num_cached_tokens = 0, num_failures = 0;
  std::vector<double> first_tokens;  // seconds from the request
  double end = 0;
  double busy_spread = 0, most_load = 0;  // busiest replica over the mean; most concurrent requests on one replica
};

enum class Kind { step, ask, ask_again, fail, restore };

struct Event {
  double time;
  uint64_t order;
  Kind kind;
  size_t index;         // a replica; for ask and ask_again an agent
  uint64_t generation;  // of the replica: the steps of a killed one never end
  bool operator>(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, size_t num_agents, size_t num_replicas, uint64_t seed, Policy& policy)
      : scenario_(scenario),
        trace_(make_trace(scenario, num_agents, num_replicas, seed)),
        policy_(policy),
        random_(seed + 77),
        generations_(num_replicas),
        busy_(num_replicas),
        places_(num_agents, kNowhere) {
    for (size_t r = 0; r < num_replicas; ++r) {
      replicas_.push_back(make_replica(r));
      if (scenario.has_failures) push(life(), Kind::fail, r);
    }
    for (size_t a = 0; a < num_agents; ++a) push(trace_.agents[a].arrival, Kind::ask, a);
    num_open_ = num_agents;
  }

  Outcome run() {
    while (!events_.empty() && num_open_ > 0) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      handle(event);
    }
    outcome_.end = now_;
    double most = 0, sum = 0;
    for (size_t r = 0; r < replicas_.size(); ++r) {
      const double busy = busy_[r] + replicas_[r]->busy_seconds();
      most = std::max(most, busy);
      sum += busy;
    }
    outcome_.busy_spread = most / (sum / static_cast<double>(replicas_.size()));
    return std::move(outcome_);
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  std::unique_ptr<Replica> make_replica(size_t r) const {
    ReplicaShape shape;
    if (scenario_.is_mixed && r % 2 == 1) {
      shape.num_blocks /= 2;
      shape.max_checkpoints /= 2;
      shape.step_seconds *= 2;
      shape.token_seconds *= 2;
    }
    return std::make_unique<Replica>(shape);
  }

  double life() { return std::exponential_distribution<double>(1 / kMeanLife)(random_); }

  void push(double time, Kind kind, size_t index, uint64_t generation = 0) {
    events_.push({time, num_events_++, kind, index, generation});
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Kind::step:
        if (event.generation == generations_[event.index]) end_step(event.index);
        break;
      case Kind::ask: {
        Agent& agent = trace_.agents[event.index];
        append(agent.tokens, 1000 + event.index * 100 + agent.next_turn, agent.turns[agent.next_turn].num_new_tokens);
        agent.asked = now_;
        send(event.index);
        break;
      }
      case Kind::ask_again: send(event.index); break;
      case Kind::fail: fail(event.index); break;
      case Kind::restore: replicas_[event.index]->set_up(true); push(now_ + life(), Kind::fail, event.index);
    }
  }

  void start(size_t r) {
    if (replicas_[r]->is_stepping()) return;
    if (const double seconds = replicas_[r]->begin_step(); seconds > 0)
      push(now_ + seconds, Kind::step, r, generations_[r]);
  }

  void send(size_t a) {
    const bool is_any_up = std::ranges::any_of(replicas_, [](const auto& replica) { return replica->is_up(); });
    if (!is_any_up) return push(now_ + kNoticeLoss, Kind::ask_again, a);
    const Agent& agent = trace_.agents[a];
    const size_t r = policy_.choose(replicas_, a, agent.tokens);
    places_[a] = r;
    replicas_[r]->submit(a, agent.tokens, agent.turns[agent.next_turn].num_answer_tokens);
    outcome_.most_load = std::max(outcome_.most_load, static_cast<double>(replicas_[r]->load()));
    start(r);
  }

  void fail(size_t r) {
    ++outcome_.num_failures;
    ++generations_[r];
    busy_[r] += replicas_[r]->busy_seconds();
    replicas_[r] = make_replica(r);
    replicas_[r]->set_up(false);
    push(now_ + kRestart, Kind::restore, r);
    for (size_t a = 0; a < places_.size(); ++a)
      if (std::exchange(places_[a], places_[a] == r ? kNowhere : places_[a]) == r)
        push(now_ + kNoticeLoss, Kind::ask_again, a);
  }

  void end_step(size_t r) {
    for (Finished& done : replicas_[r]->end_step(now_)) {
      Agent& agent = trace_.agents[done.id];
      agent.tokens = std::move(done.tokens);
      places_[done.id] = kNowhere;
      ++outcome_.num_requests;
      outcome_.num_prompt_tokens += done.num_prompt_tokens;
      outcome_.num_cached_tokens += done.num_cached_tokens;
      outcome_.first_tokens.push_back(done.first_token - agent.asked);
      if (++agent.next_turn < agent.turns.size()) push(now_ + agent.turns[agent.next_turn].pause, Kind::ask, done.id);
      else --num_open_;
    }
    start(r);
  }

  const Scenario& scenario_;
  Trace trace_;
  Policy& policy_;
  std::mt19937_64 random_;  // of failures
  Replicas replicas_;
  std::vector<uint64_t> generations_;  // of replicas: how often each was killed
  std::vector<double> busy_;           // seconds of the killed ones
  std::vector<size_t> places_;         // of agents: the replica that has the request
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t num_events_ = 0;
  size_t num_open_ = 0;  // agents that have not had all of their turns
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
  const std::string_view name = argc > 4 ? argv[4] : "agents";
  const auto* scenario = std::ranges::find(kScenarios, name, &Scenario::name);
  if (scenario == std::end(kScenarios)) {
    std::fprintf(stderr, "the scenario '%s' is none of agents, bursts, failures, mixed, all\n", argv[4]);
    return 64;
  }
  std::printf("%zu agents, %zu replicas, seed %llu, %s\n\n", num_agents, num_replicas,
              static_cast<unsigned long long>(seed), scenario->name.data());
  std::printf(
      "| policy | tokens from the cache | first token, mean s | median s | p99 s | busiest / mean | most at once | all "
      "done s |\n|---|---|---|---|---|---|---|---|\n");
  int64_t num_failures = 0;
  const auto run = [&](const char* policy_name, std::unique_ptr<Policy> policy) {
    Outcome outcome = Simulation(*scenario, num_agents, num_replicas, seed, *policy).run();
    num_failures = outcome.num_failures;
    report(policy_name, std::move(outcome));
    std::fflush(stdout);
  };
  run("prefix router, 8 asked", std::make_unique<PrefixPolicy>(seed, 8, 512));
  if (scenario->is_mixed)
    run("prefix router, 8 asked, speed counts", std::make_unique<PrefixPolicy>(seed, 8, 512, true));
  run("prefix router, all asked", std::make_unique<PrefixPolicy>(seed, num_replicas, 512));
  run("prefix router, 8 asked, load counts little", std::make_unique<PrefixPolicy>(seed, 8, 32));
  run("prefix router, all asked, load counts little", std::make_unique<PrefixPolicy>(seed, num_replicas, 32));
  run("text tree, as sglang-router", std::make_unique<TextTreePolicy>(seed, 0.5, 8, 1.5));
  run("consistent hash", std::make_unique<ConsistentHashPolicy>(0));
  run("consistent hash, bounded at 1.5", std::make_unique<ConsistentHashPolicy>(1.5));
  run("shorter queue of two", std::make_unique<PowerOfTwoPolicy>(seed));
  run("random", std::make_unique<RandomPolicy>(seed));
  run("round robin", std::make_unique<RoundRobinPolicy>());
  if (scenario->has_failures)
    std::printf("\n%lld replicas were killed in the last run\n", static_cast<long long>(num_failures));
  return 0;
}
