// Random schedules of real models: every request alone first, then many in any order, aborted and preempted, and the
// bits compared.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/model_harness.h"
#include "engine/speculation/drafters.h"
#include "support/test.h"

namespace pagoda::engine {

using test::Recorder;
using Harness = test::ModelHarness;

struct Expected {
  Request request;
  Recorder solo;
};

struct Form {  // settings that may change the bits, and must be equal in two compared runs
  std::string device = "cpu", quantize = "none", kv_dtype = "auto", state_dtype = "float32";
  bool drafts = false;        // settings that may not change them: drafts from the answers themselves, right and wrong
  bool own_drafts = false;    // the engine's own drafts, as many as possible
  std::string pipeline = "";  // addresses of stages, for a model with that many layers
  int num_stages = 1, num_layers = 0;
  std::vector<LoraSource> loras{};  // requests use one of them, or none
  bool streams_experts = false;     // may not change the bits either: experts are read into any amount of memory
};

inline EngineOptions options_for(int threads, const Form& form = {}) {
  EngineOptions options;
  options.device = form.device;
  options.quantize = form.quantize;
  options.kv_dtype = form.kv_dtype;
  options.state_dtype = form.state_dtype;
  options.num_threads = threads;
  options.loras = form.loras;
  return options;
}

inline Request random_request(std::mt19937_64& rng, int32_t vocab_size, int num_prompt_tokens, int max_tokens) {
  Request request;
  for (int t = 0; t < num_prompt_tokens; ++t)
    request.prompt_ids.push_back(static_cast<int32_t>(rng() % static_cast<uint64_t>(vocab_size)));
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = rng() % 2 ? 0.9f : 0.0f;
  request.sampling.has_seed = true;
  const uint64_t seed = rng();
  request.sampling.seed = seed;
  if (seed % 4 == 0) request.sampling.dry = {.multiplier = 0.8f, .breakers = {"\n"}};
  if (seed % 4 == 1) request.sampling.xtc_probability = 0.5f;
  if (seed % 8 == 2) request.sampling.top_n_sigma = 1.0f;
  if (seed % 8 == 6) request.sampling.dynatemp_range = 0.4f;
  request.sampling.num_top_logprobs = 2;
  request.sampling.ignore_eos = true;
  return request;
}

struct Lengths {  // inclusive
  int min_prompt = 1, max_prompt = 1, min_output = 1, max_output = 32;
};

// Every request once, alone, on one thread, without the prefix cache. Every second prompt shares a prefix with another.
inline std::vector<std::unique_ptr<Expected>> run_solo(const std::string& folder, int count, const Lengths& lengths,
                                                       std::mt19937_64& rng, const Form& form = {}) {
  std::vector<std::unique_ptr<Expected>> all;
  EngineOptions options = options_for(1, form);
  options.prefix_cache = false;
  options.speculation = "off";
  auto harness = Harness::open(folder, options);
  if (!harness) return all;
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  for (int i = 0; i < count; ++i) {
    auto expected = std::make_unique<Expected>();
    const int prompt = pick(lengths.min_prompt, lengths.max_prompt);
    expected->request =
        random_request(rng, harness->loaded.core.vocab_size, prompt, pick(lengths.min_output, lengths.max_output));
    const size_t lora = rng() % (form.loras.size() + 1);
    if (lora > 0) expected->request.lora = form.loras[lora - 1].name;
    if (i % 2 == 1) {  // the turn after another request's prompt and answer, truncated to the limit
      const Expected& other = *all[rng() % all.size()];
      std::vector<int32_t> turns = other.request.prompt_ids;
      turns.insert(turns.end(), other.solo.tokens.begin(), other.solo.tokens.end());
      auto& ids = expected->request.prompt_ids;
      ids.insert(ids.begin(), turns.begin(), turns.end());
      ids.resize(std::min<size_t>(ids.size(), static_cast<size_t>(lengths.max_prompt)));
    }
    CHECK(harness->add(expected->request, static_cast<uint64_t>(i + 1), expected->solo));
    while (harness->core->has_work()) harness->core->step();
    all.push_back(std::move(expected));
  }
  return all;
}

struct Reach {  // what the schedules covered; a test that covered nothing proves nothing
  int64_t num_preemptions = 0, num_aborts = 0, num_compared = 0, num_hits = 0, num_accepted = 0, num_rejected = 0;
};

inline void compare(const Expected& expected, const Recorder& seen, bool aborted) {
  std::vector<int32_t> tokens = expected.solo.tokens;
  std::vector<uint32_t> bits = expected.solo.logprob_bits;
  if (aborted) tokens.resize(seen.tokens.size()), bits.resize(seen.tokens.size());
  CHECK_OK(seen.status);
  CHECK(seen.tokens == tokens);
  CHECK(seen.logprob_bits == bits);
}

// `prepare` gets the engine before the first request.
inline void run_schedule(const std::string& folder, const std::vector<std::unique_ptr<Expected>>& all, uint64_t seed,
                         const Form& form, Reach& reach, const std::function<void(Harness&)>& prepare = {}) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) {
    return static_cast<int>(low + rng() % static_cast<uint64_t>(high - low + 1));
  };
  EngineOptions options = options_for(pick(1, 4), form);
  options.block_size = 8 << pick(0, 2);
  options.max_num_seqs = pick(1, 6);
  options.max_num_batched_tokens = pick(options.max_num_seqs, 100);
  options.num_kv_blocks = pick(192, 212) / options.block_size;  // the longest request needs 6 blocks of 32
  options.speculation = form.drafts || form.own_drafts ? "auto" : "off";
  std::shared_ptr<test::TestDrafter> drafter;
  if (form.drafts) drafter = std::make_shared<test::TestDrafter>(test::any_habit(rng()), rng());
  if (!form.pipeline.empty()) {  // in chunks of any size
    options.pipeline = form.pipeline;
    options.pipeline_timeout_ms = 600'000;
    int left = form.num_layers;
    for (int stage = 1; stage < form.num_stages; ++stage) {
      const int count = pick(1, left - (form.num_stages - stage));
      options.pipeline_split += std::to_string(count) + ",";
      left -= count;
    }
    options.pipeline_split += std::to_string(left);
  }
  if (form.streams_experts) {
    const Result<ModelInfo> info = inspect({folder, {}}, options);
    REQUIRE_OK(info);
    constexpr int kParts = 8;  // at least one expert of every size
    options.expert_memory_bytes = info->plan.expert_bytes / kParts * pick(1, kParts);
  }
  auto harness = Harness::open(folder, options, drafter, form.own_drafts);
  if (!harness) return;
  if (prepare) prepare(*harness);
  struct Entry {
    const Expected* expected;
    Recorder recorder;
    bool aborted = false;
  };
  std::map<uint64_t, Entry> entries;
  int to_add = pick(2, 8);
  while (to_add > 0 || harness->core->has_work()) {
    if (to_add > 0 && pick(0, 2) > 0) {
      const uint64_t id = static_cast<uint64_t>(to_add--);
      Entry& entry = entries[id];
      entry.expected = all[static_cast<size_t>(pick(0, static_cast<int>(all.size()) - 1))].get();
      if (drafter) drafter->expect(id, entry.expected->request.prompt_ids, entry.expected->solo.tokens);
      CHECK(harness->add(entry.expected->request, id, entry.recorder));
    }
    if (!entries.empty() && pick(0, 24) == 0) {
      auto& [id, entry] = *std::next(entries.begin(), pick(0, static_cast<int>(entries.size()) - 1));
      if (!entry.recorder.finished) entry.aborted = true, ++reach.num_aborts;
      harness->core->cancel(id);
    }
    harness->core->step();
  }
  for (auto& [id, entry] : entries) compare(*entry.expected, entry.recorder, entry.aborted), ++reach.num_compared;
  reach.num_preemptions += harness->core->stats().num_preemptions;
  reach.num_hits += harness->core->stats().cache.num_hits;
  const SpeculationStats speculation = harness->core->stats().speculation;
  reach.num_accepted += speculation.num_accepted_tokens;
  reach.num_rejected += speculation.num_drafted_tokens - speculation.num_accepted_tokens;
  harness->check_all_free();
}

// PAGODA_SCHEDULES=N runs N times as many.
inline void check_schedules(const std::string& folder, int num_schedules, int max_prompt, uint64_t fallback_seed,
                            const Form& form = {}) {
  const uint64_t first = test::seed(fallback_seed);
  const char* factor = std::getenv("PAGODA_SCHEDULES");
  num_schedules *= factor ? std::max(1, std::atoi(factor)) : 1;
  std::mt19937_64 rng(first);
  const auto all = run_solo(folder, 12, {.max_prompt = max_prompt}, rng, form);
  REQUIRE(!all.empty());
  Reach reach;
  // Continues if something has not happened yet: admission avoids preemptions if it can.
  const auto is_enough = [&](int done) {
    const bool has_all = reach.num_preemptions > 0 && reach.num_aborts > 0 && reach.num_hits > 0;
    return done >= 10 * num_schedules || (done >= num_schedules && has_all);
  };
  for (int i = 0; !is_enough(i) && !test::failed(); ++i) {
    run_schedule(folder, all, first + static_cast<uint64_t>(i), form, reach);
    if (test::failed()) test::note("schedule " + std::to_string(first + static_cast<uint64_t>(i)));
  }
  test::note(std::to_string(reach.num_compared) + " compared, " + std::to_string(reach.num_preemptions) +
             " preemptions, " + std::to_string(reach.num_aborts) + " aborts, " + std::to_string(reach.num_hits) +
             " hits, " + std::to_string(reach.num_accepted) + " drafts held, " + std::to_string(reach.num_rejected) +
             " did not");
  CHECK_EQ(reach.num_accepted > 0 && reach.num_rejected > 0, form.drafts || form.own_drafts);
  CHECK(reach.num_compared > num_schedules);
  CHECK(reach.num_preemptions > 0);
  CHECK(reach.num_aborts > 0);
  CHECK(reach.num_hits > 0);
}

}  // namespace pagoda::engine
