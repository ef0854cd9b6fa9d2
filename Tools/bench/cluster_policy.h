// Routing policies for simulated replicas: each chooses the replica for the next request of a conversation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster_replica.h"

namespace pagoda::simulation {

using Replicas = std::vector<std::unique_ptr<Replica>>;

class Policy {
 public:
  virtual ~Policy() = default;
  virtual size_t choose(const Replicas& replicas, uint64_t conversation, std::span<const int32_t> prompt) = 0;
};

inline uint64_t mixed(uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A random replica that is up.
inline size_t random_up(const Replicas& replicas, std::mt19937_64& random) {
  for (;;)
    if (const size_t r = random() % replicas.size(); replicas[r]->is_up()) return r;
}

class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(uint64_t seed) : random_(seed) {}
  size_t choose(const Replicas& replicas, uint64_t, std::span<const int32_t>) override {
    return random_up(replicas, random_);
  }

 private:
  std::mt19937_64 random_;
};

class RoundRobinPolicy final : public Policy {
 public:
  size_t choose(const Replicas& replicas, uint64_t, std::span<const int32_t>) override {
    while (!replicas[next_ % replicas.size()]->is_up()) ++next_;
    return next_++ % replicas.size();
  }

 private:
  size_t next_ = 0;
};

class PowerOfTwoPolicy final : public Policy {
 public:
  explicit PowerOfTwoPolicy(uint64_t seed) : random_(seed) {}
  size_t choose(const Replicas& replicas, uint64_t, std::span<const int32_t>) override {
    const size_t a = random_up(replicas, random_), b = random_up(replicas, random_);
    return replicas[b]->load() < replicas[a]->load() ? b : a;
  }

 private:
  std::mt19937_64 random_;
};

// sglang-router's cache_aware: the replica that has seen most of the text, if that is at least `threshold` of it,
// otherwise the one that has seen least text; the shortest queue instead while the longest exceeds it by `most_more`
// requests and `most_times` times. What a replica has seen is kept for blocks of 64 tokens and never forgotten, unless
// it is killed.
class TextTreePolicy final : public Policy {
 public:
  TextTreePolicy(uint64_t seed, double threshold, int64_t most_more, double most_times)
      : random_(seed), threshold_(threshold), most_more_(most_more), most_times_(most_times) {}
  size_t choose(const Replicas& replicas, uint64_t, std::span<const int32_t> prompt) override {
    seen_.resize(replicas.size());
    for (size_t r = 0; r < replicas.size(); ++r)
      if (!replicas[r]->is_up()) seen_[r].clear();
    const std::vector<uint64_t> blocks = hashes(prompt);
    const size_t best = pick(replicas, blocks);
    seen_[best].insert(blocks.begin(), blocks.end());
    return best;
  }

 private:
  static constexpr size_t kBlock = 64;

  static std::vector<uint64_t> hashes(std::span<const int32_t> prompt) {
    std::vector<uint64_t> found;
    uint64_t hash = 0;
    for (size_t i = 0; i < prompt.size(); ++i) {
      hash = mixed(hash * 31 + static_cast<uint64_t>(prompt[i]) + 1);
      if ((i + 1) % kBlock == 0) found.push_back(hash);
    }
    return found;
  }

  size_t num_seen(size_t r, const std::vector<uint64_t>& blocks) const {
    return static_cast<size_t>(std::ranges::find_if(blocks, [&](uint64_t hash) { return !seen_[r].contains(hash); }) -
                               blocks.begin());
  }

  size_t pick(const Replicas& replicas, const std::vector<uint64_t>& blocks) {
    std::vector<size_t> up;
    for (size_t r = 0; r < replicas.size(); ++r)
      if (replicas[r]->is_up()) up.push_back(r);
    std::ranges::shuffle(up, random_);
    const auto load = [&](size_t r) { return int64_t{replicas[r]->load()}; };
    const size_t shortest = *std::ranges::min_element(up, {}, load);
    const int64_t most = load(*std::ranges::max_element(up, {}, load));
    if (most - load(shortest) > most_more_ &&
        static_cast<double>(most) > most_times_ * static_cast<double>(load(shortest)))
      return shortest;
    const size_t best = *std::ranges::max_element(up, {}, [&](size_t r) { return num_seen(r, blocks); });
    if (static_cast<double>(num_seen(best, blocks)) >= threshold_ * static_cast<double>(blocks.size())) return best;
    return *std::ranges::min_element(up, {}, [&](size_t r) { return seen_[r].size(); });
  }

  std::mt19937_64 random_;
  double threshold_;
  int64_t most_more_;
  double most_times_;
  std::vector<std::unordered_set<uint64_t>> seen_;  // by replica: hashes of the prefixes that end with a block
};

// A hash ring with 100 points per replica, keyed by conversation. With `max_share` above 0, no replica gets more than
// that many times the mean number of requests in flight; the next one on the ring does (HAProxy's hash-balance-factor).
class ConsistentHashPolicy final : public Policy {
 public:
  explicit ConsistentHashPolicy(double max_share) : max_share_(max_share) {}
  size_t choose(const Replicas& replicas, uint64_t conversation, std::span<const int32_t>) override {
    if (ring_.empty())
      for (size_t r = 0; r < replicas.size(); ++r)
        for (uint64_t point = 0; point < 100; ++point) ring_[mixed(r * 1000 + point + 1)] = r;
    int64_t total = 1;
    int64_t num_up = 0;
    for (const auto& replica : replicas) {
      total += replica->load();
      num_up += replica->is_up();
    }
    const double most = std::ceil(max_share_ * static_cast<double>(total) / static_cast<double>(num_up));
    auto next = ring_.lower_bound(mixed(conversation + 0x9e3779b9));
    for (size_t tries = 0; tries < ring_.size(); ++tries, ++next) {
      if (next == ring_.end()) next = ring_.begin();
      if (!replicas[next->second]->is_up()) continue;
      if (max_share_ <= 0 || replicas[next->second]->load() < most) return next->second;
    }
    return static_cast<size_t>(std::ranges::find_if(replicas, [](const auto& replica) { return replica->is_up(); }) -
                               replicas.begin());
  }

 private:
  double max_share_;
  std::map<uint64_t, size_t> ring_;
};

// The PrefixRouter of Deploy/ray: queries the replica that had the conversation and a few random ones, and chooses the
// one with the fewest tokens to compute plus a weight per request in flight. The same rule as pagoda_ray/policy.py.
class PrefixPolicy final : public Policy {
 public:
  // With `speed_counts`, costs are seconds by each replica's own speed instead of tokens.
  PrefixPolicy(uint64_t seed, size_t max_asked, int64_t load_tokens, bool speed_counts = false)
      : random_(seed), max_asked_(max_asked), load_tokens_(load_tokens), speed_counts_(speed_counts) {}
  size_t choose(const Replicas& replicas, uint64_t conversation, std::span<const int32_t> prompt) override {
    std::vector<size_t> asked;
    if (const auto found = recent_.find(conversation); found != recent_.end()) asked = found->second;
    std::erase_if(asked, [&](size_t r) { return !replicas[r]->is_up(); });
    const size_t num_up =
        static_cast<size_t>(std::ranges::count_if(replicas, [](const auto& replica) { return replica->is_up(); }));
    while (asked.size() < std::min(max_asked_, num_up)) {
      const size_t r = random_up(replicas, random_);
      if (std::ranges::find(asked, r) == asked.end()) asked.push_back(r);
    }
    std::ranges::shuffle(asked, random_);
    const int64_t weight = std::min(load_tokens_, static_cast<int64_t>(prompt.size() / 4));
    const auto cost = [&](size_t r) {
      const int64_t tokens =
          static_cast<int64_t>(prompt.size()) - replicas[r]->num_cached(prompt) + weight * replicas[r]->load();
      return static_cast<double>(tokens) * (speed_counts_ ? replicas[r]->token_seconds() : 1);
    };
    const size_t best = *std::ranges::min_element(asked, {}, cost);
    std::vector<size_t>& recent = recent_[conversation];
    std::erase(recent, best);
    recent.insert(recent.begin(), best);
    if (recent.size() > 2) recent.resize(2);
    return best;
  }

 private:
  std::mt19937_64 random_;
  size_t max_asked_;
  int64_t load_tokens_;
  bool speed_counts_;
  std::unordered_map<uint64_t, std::vector<size_t>> recent_;
};

}  // namespace pagoda::simulation
