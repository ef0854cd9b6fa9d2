// R1, the promise of the harness: a sequence's tokens and logprobs are the same bits alone, batched, chunked,
// preempted, resumed from the prefix cache, with any number of threads and any block size. Real models on the CPU
// device, random schedules.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/registry.h"
#include "device/rig.h"
#include "engine/drafters.h"
#include "engine/model_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Recorder;
using Harness = test::ModelHarness;

struct Expected {
  Request request;
  Recorder solo;
};

struct Form {  // what may change the bits, and must be the same in two runs that are compared
  std::string device = "cpu", quantize = "none", kv_dtype = "auto";
  bool drafts = false;      // what may not change them: drafts from the answers themselves, right and wrong
  bool own_drafts = false;  // the engine's own, all that it can make
};

EngineOptions options_for(int threads, const Form& form = {}) {
  EngineOptions options;
  options.device = form.device;
  options.quantize = form.quantize;
  options.kv_dtype = form.kv_dtype;
  options.num_threads = threads;
  return options;
}

Request random_request(std::mt19937_64& rng, int32_t vocab_size, int num_prompt_tokens, int max_tokens) {
  Request request;
  for (int t = 0; t < num_prompt_tokens; ++t)
    request.prompt_ids.push_back(static_cast<int32_t>(rng() % static_cast<uint64_t>(vocab_size)));
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = rng() % 2 ? 0.9f : 0.0f;
  request.sampling.has_seed = true;
  request.sampling.seed = rng();
  request.sampling.num_top_logprobs = 2;
  request.sampling.ignore_eos = true;
  return request;
}

struct Lengths {  // inclusive
  int min_prompt = 1, max_prompt = 1, min_output = 1, max_output = 32;
};

// Every request once, alone, on one thread, without the prefix cache. Every second prompt begins like another.
std::vector<std::unique_ptr<Expected>> run_solo(const std::string& folder, int count, const Lengths& lengths,
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
    if (i % 2 == 1) {  // the turn after another's prompt and answer, as far as it may be
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

struct Reach {  // what the schedules went through; a test that reached nothing proves nothing
  int64_t num_preemptions = 0, num_aborts = 0, num_compared = 0, num_hits = 0, num_accepted = 0, num_rejected = 0;
};

void compare(const Expected& expected, const Recorder& seen, bool aborted) {
  std::vector<int32_t> tokens = expected.solo.tokens;
  std::vector<uint32_t> bits = expected.solo.logprob_bits;
  if (aborted) tokens.resize(seen.tokens.size()), bits.resize(seen.tokens.size());
  CHECK(seen.tokens == tokens);
  CHECK(seen.logprob_bits == bits);
}

void run_schedule(const std::string& folder, const std::vector<std::unique_ptr<Expected>>& all, uint64_t seed,
                  const Form& form, Reach& reach) {
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
  auto harness = Harness::open(folder, options, drafter, form.own_drafts);
  if (!harness) return;
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

void check_schedules(const std::string& folder, int num_schedules, int max_prompt, uint64_t fallback_seed,
                     const Form& form = {}) {
  const uint64_t first = test::seed(fallback_seed);
  std::mt19937_64 rng(first);
  const auto all = run_solo(folder, 12, {.max_prompt = max_prompt}, rng, form);
  REQUIRE(!all.empty());
  Reach reach;
  // Longer if no schedule preempted yet: admission avoids it where it can.
  const auto is_enough = [&](int done) {
    return done >= 4 * num_schedules || (done >= num_schedules && reach.num_preemptions > 0);
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

std::string fixture(const char* name) { return test::fixtures_dir() + "/model/" + name; }

}  // namespace

PAGODA_TEST(engine_same_bits_in_200_random_schedules_of_the_hybrid) {
  check_schedules(fixture("qwen3_5"), 200, 140, 1);
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_real_head_sizes) {
  check_schedules(fixture("qwen3_5_real_heads"), 30, 140, 2);
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_int8_kv) {
  check_schedules(fixture("qwen3_5"), 40, 140, 9, {.kv_dtype = "int8"});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_of_qwen3) { check_schedules(fixture("qwen3"), 40, 140, 3); }
PAGODA_TEST(engine_same_bits_in_random_schedules_with_sliding_windows) {
  check_schedules(fixture("qwen2"), 40, 140, 4);
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_scaled_rope) { check_schedules(fixture("llama3"), 40, 140, 5); }
PAGODA_TEST(engine_same_bits_in_random_schedules_with_latents) {
  check_schedules(fixture("deepseek_v2"), 30, 140, 51);
  check_schedules(fixture("glm4_moe_lite"), 15, 140, 52, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_with_decays_by_channel) {
  check_schedules(fixture("kimi_linear"), 8, 140, 58);
  check_schedules(fixture("kimi_linear_real_heads"), 6, 140, 58, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(engine_same_bits_in_random_schedules_of_the_embedded_model) {
  check_schedules(test::mini_model_dir(), 10, 140, 8);
}

// Off is what run_solo() does; on are drafts that hold, do not, break at the borders of blocks, and come in any number.
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_of_the_hybrid) {
  check_schedules(fixture("qwen3_5"), 120, 140, 31, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_real_head_sizes) {
  check_schedules(fixture("qwen3_5_real_heads"), 20, 140, 32, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_int8_kv) {
  check_schedules(fixture("qwen3_5"), 40, 140, 33, {.kv_dtype = "int8", .drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_without_a_state) {
  check_schedules(fixture("qwen3"), 40, 140, 34, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_sliding_windows) {
  check_schedules(fixture("qwen2"), 30, 140, 35, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_with_experts) {
  check_schedules(fixture("qwen3_5_moe"), 20, 140, 36, {.drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_of_the_embedded_model) {
  check_schedules(test::mini_model_dir(), 10, 140, 37, {.drafts = true});
}
PAGODA_TEST(speculation_by_the_mtp_head_gives_the_same_bits_in_random_schedules) {
  check_schedules(fixture("qwen3_5_vision"), 60, 140, 40, {.own_drafts = true});
}
PAGODA_TEST(speculation_by_the_mtp_head_gives_the_same_bits_in_random_schedules_of_the_embedded_model) {
  check_schedules(test::mini_model_dir(), 8, 140, 41, {.own_drafts = true});
}
PAGODA_TEST(speculation_by_the_mtp_head_gives_the_same_bits_in_random_schedules_of_the_kernels) {
  for (const std::string& name : device::device_names())
    if (test::runs_kernels(name))
      check_schedules(fixture("qwen3_5_vision"), 6, 60, 42, {.device = name, .quantize = "bf16", .own_drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_of_the_kernels) {
  for (const std::string& name : device::device_names())
    if (test::runs_kernels(name))
      check_schedules(fixture("qwen3_5"), 12, 60, 38, {.device = name, .quantize = "bf16", .drafts = true});
}
PAGODA_TEST(speculation_gives_the_same_bits_in_random_schedules_in_8_and_4_bit) {
  for (const char* quantize : {"8bit", "4bit"})
    check_schedules(fixture("qwen3_5"), 20, 140, 39, {.quantize = quantize, .drafts = true});
}

namespace {

void check_every_path(const std::string& quantize, uint64_t fallback_seed) {
  std::string ran;
  for (const std::string& name : device::device_names()) {
    if (!name.starts_with("cpu:")) continue;
    check_schedules(fixture("qwen3_5"), 12, 140, fallback_seed, {.device = name, .quantize = quantize});
    ran += name + " ";
  }
  test::note(ran);
  CHECK(!ran.empty());
}

}  // namespace

PAGODA_TEST(kernels_give_the_same_bits_in_any_schedule) {
  std::string ran;
  for (const std::string& name : device::device_names()) {
    if (!test::runs_kernels(name)) continue;
    check_schedules(fixture("qwen3_5"), 4, 60, 24, {.device = name, .quantize = "bf16"});
    ran += name + " ";
  }
  test::note(ran);
  CHECK(!ran.empty());
}
PAGODA_TEST(paths_give_the_same_bits_in_any_schedule_in_bf16) { check_every_path("bf16", 20); }
PAGODA_TEST(paths_give_the_same_bits_in_any_schedule_in_8_bit) { check_every_path("8bit", 21); }
PAGODA_TEST(paths_give_the_same_bits_in_any_schedule_in_4_bit) { check_every_path("4bit", 22); }

// Stronger than R1: instruction sets with fused products give the same answer, so a machine may be replaced. Not over a
// bf16 cache: AMX tiles add in an order of their own there.
PAGODA_TEST(paths_with_fused_products_give_the_same_answer) {
  for (const auto& [quantize, kv_dtype] : {std::pair{"bf16", "float16"},
                                           {"8bit", "float16"},
                                           {"4bit", "float16"},
                                           {"bf16", "bfloat16"},
                                           {"8bit", "bfloat16"},
                                           {"4bit", "bfloat16"}}) {
    std::vector<std::unique_ptr<Expected>> first;
    for (const std::string& name : device::device_names()) {
      if (!name.starts_with("cpu:") || name == "cpu:portable") continue;
      if (name == "cpu:amx" && std::string(kv_dtype) == "bfloat16") continue;
      if (test::has_own_bf16_order(name) && std::string(quantize) == "bf16") continue;
      std::mt19937_64 rng(test::seed(23));
      auto all = run_solo(test::mini_model_dir(), 3, {20, 60, 10, 20}, rng,
                          {.device = name, .quantize = quantize, .kv_dtype = kv_dtype});
      REQUIRE(all.size() == 3);
      for (size_t i = 0; i < first.size(); ++i) compare(*first[i], all[i]->solo, false);
      if (test::failed()) test::note(name + " " + quantize);
      if (first.empty()) first = std::move(all);
    }
  }
}

PAGODA_TEST(engine_four_requests_in_a_tiny_pool_finish_as_alone) {
  std::mt19937_64 rng(test::seed(7));
  const auto all = run_solo(test::mini_model_dir(), 4, {20, 28, 40, 48}, rng);
  REQUIRE(all.size() == 4);
  EngineOptions options = options_for(2);
  options.num_kv_blocks = 7;  // 112 tokens: three or four prompts fit, two answers do not
  auto harness = Harness::open(test::mini_model_dir(), options);
  REQUIRE(harness != nullptr);
  Recorder recorders[4];
  for (size_t i = 0; i < 4; ++i) CHECK(harness->add(all[i]->request, i + 1, recorders[i]));
  while (harness->core->has_work()) harness->core->step();
  for (size_t i = 0; i < 4; ++i) compare(*all[i], recorders[i], false);
  CHECK(harness->core->stats().num_preemptions > 0);
  harness->check_all_free();
}

}  // namespace pagoda::engine
