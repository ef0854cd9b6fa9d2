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

class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(uint64_t seed) : random_(seed) {}
  size_t choose(const Replicas& replicas, uint64_t, std::span<const int32_t>) override {
    return random_() % replicas.size();
  }

 private:
  std::mt19937_64 random_;
};

class RoundRobinPolicy final : public Policy {
 public:
  size_t choose(const Replicas& replicas, uint64_t, std::span<const int32_t>) override {
    return next_++ % replicas.size();
  }

 private:
  size_t next_ = 0;
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
    for (const auto& replica : replicas) total += replica->load();
    const double most = std::ceil(max_share_ * static_cast<double>(total) / static_cast<double>(replicas.size()));
    auto next = ring_.lower_bound(mixed(conversation + 0x9e3779b9));
    for (size_t tries = 0; tries < ring_.size(); ++tries, ++next) {
      if (next == ring_.end()) next = ring_.begin();
      if (max_share_ <= 0 || replicas[next->second]->load() < most) return next->second;
    }
    return next == ring_.end() ? ring_.begin()->second : next->second;
  }

 private:
  double max_share_;
  std::map<uint64_t, size_t> ring_;
};

// The PrefixRouter of Deploy/ray: queries the replica that had the conversation and a few random ones, and chooses the
// one with the fewest tokens to compute plus a weight per request in flight. The same rule as pagoda_ray/policy.py.
class PrefixPolicy final : public Policy {
 public:
  PrefixPolicy(uint64_t seed, size_t max_asked, int64_t load_tokens)
      : random_(seed), max_asked_(max_asked), load_tokens_(load_tokens) {}
  size_t choose(const Replicas& replicas, uint64_t conversation, std::span<const int32_t> prompt) override {
    std::vector<size_t> asked;
    if (const auto found = recent_.find(conversation); found != recent_.end()) asked = found->second;
    while (asked.size() < std::min(max_asked_, replicas.size())) {
      const size_t r = random_() % replicas.size();
      if (std::ranges::find(asked, r) == asked.end()) asked.push_back(r);
    }
    std::ranges::shuffle(asked, random_);
    const int64_t weight = std::min(load_tokens_, static_cast<int64_t>(prompt.size() / 4));
    const auto cost = [&](size_t r) {
      return static_cast<int64_t>(prompt.size()) - replicas[r]->num_cached(prompt) + weight * replicas[r]->load();
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
  std::unordered_map<uint64_t, std::vector<size_t>> recent_;
};

}  // namespace pagoda::simulation
