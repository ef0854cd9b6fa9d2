// Speculation with a fake model: every kind of request gives the same events with drafts as without, for every drafter.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "engine/speculation/drafters.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeModel;
using test::Habit;
using test::Recorder;
using test::TestDrafter;

const std::string kSchema =
    R"({"type": "object", "properties": {"name": {"enum": ["first", "second"]}, "tags": {"type": "array", "items": {"enum": ["aa", "bb"]}, "maxItems": 4}}, "required": ["name", "tags"]})";

struct Limits {
  int64_t num_blocks = 64;
  int32_t max_num_tokens = 64, max_num_seqs = 4, max_checkpoints = 0;
  bool has_state = true;
};

struct Harness {
  std::shared_ptr<const text::SubwordTokenizer> tokenizer = test::make_awkward_tokenizer();
  std::unique_ptr<FakeModel> model;
  std::unique_ptr<EngineCore> core;

  // Without a drafter, the engine's own may draft if uses_lookup is set.
  explicit Harness(const Limits& limits, std::shared_ptr<TestDrafter> drafter = nullptr, bool uses_lookup = false) {
    CoreConfig config;
    config.limits.num_kv_blocks = limits.num_blocks;
    config.limits.num_checkpoints = limits.has_state ? limits.max_checkpoints : 0;
    config.limits.max_state_saves = config.limits.num_checkpoints;
    config.state_slot_bytes = sizeof(FakeModel::State);
    config.limits.num_state_slots = limits.has_state ? limits.max_num_seqs + limits.max_checkpoints : 0;
    config.limits.max_num_tokens = limits.max_num_tokens;
    config.limits.max_num_seqs = limits.max_num_seqs;
    config.max_drafts = drafter || uses_lookup ? test::most_drafts(limits.has_state) : 0;
    config.limits.max_draft_rows = 2 * config.max_drafts;
    config.limits.max_logits_rows = limits.max_num_seqs + config.limits.max_draft_rows;
    config.limits.max_blocks_per_seq = static_cast<int32_t>(limits.num_blocks);
    config.limits.max_model_len = static_cast<int32_t>(limits.num_blocks * 16);
    config.vocab_size = tokenizer->vocab_size();
    config.eos_token_ids = {test::end_id(*tokenizer)};
    config.tokenizer = tokenizer;
    TestHooks hooks;
    hooks.drafter = std::move(drafter);
    config.uses_lookup = uses_lookup;
    model = std::make_unique<FakeModel>(config.limits, config.limits.block_size, config.vocab_size);
    core = std::make_unique<EngineCore>(*model, config, std::move(hooks));
  }

  void add(const Request& request, uint64_t id, Recorder& recorder) {
    auto prepared = core->prepare(request, id, &Recorder::on_event, &recorder);
    CHECK_OK(prepared);
    if (prepared.is_ok()) core->add(std::move(*prepared));
  }
  void run() {
    for (int i = 0; core->has_work() && i < 100000; ++i) core->step();
    CHECK(!core->has_work());
  }
};

// Every field that affects which token comes next, or when the text ends.
Request any_request(std::mt19937_64& rng, const text::SubwordTokenizer& tokenizer) {
  const auto pick = [&](int count) { return static_cast<int>(rng() % static_cast<uint64_t>(count)); };
  Request request;
  const int length = 1 + pick(60);
  for (int i = 0; i < length; ++i) request.prompt_ids.push_back('a' + pick(6));
  SamplingParams& s = request.sampling;
  s.max_tokens = 1 + pick(70);
  s.has_seed = true;
  s.seed = rng();
  const float temperatures[] = {0, 0, 0.6f, 1.0f};
  s.temperature = temperatures[pick(4)];
  if (pick(3) == 0) s.top_k = 1 + pick(20);
  if (pick(3) == 0) s.top_p = 0.8f;
  if (pick(4) == 0) s.min_p = 0.05f;
  if (pick(4) == 0) s.repetition_penalty = 1.4f;
  if (pick(4) == 0) s.presence_penalty = 0.7f;
  if (pick(4) == 0) s.frequency_penalty = 0.4f;
  if (pick(4) == 0) s.logit_bias = {{'e', 3}, {'q', -100}, {test::end_id(tokenizer), 1}};
  if (pick(2) == 0) s.num_top_logprobs = pick(4);
  if (pick(3) == 0) s.stop_ids = {'x', 'y', 'z', '0', '1', '2'};
  if (pick(3) == 0) s.min_tokens = std::min(pick(30), s.max_tokens);
  if (pick(3) == 0) s.stop = {"e", "ab", "\xc3"};
  if (pick(4) == 0) request.grammar = {GrammarKind::json_schema, kSchema};
  if (pick(3) == 0) {
    request.prompt_ids.push_back(tokenizer.find_token("<think>"));
    s.thinking_budget = pick(12);
  }
  return request;
}

void compare(const Recorder& off, const Recorder& on) {
  CHECK(off.tokens == on.tokens);
  CHECK(off.logprob_bits == on.logprob_bits);
  CHECK_EQ(off.text, on.text);
  CHECK(off.reason == on.reason);
  CHECK_EQ(off.stop_string, on.stop_string);
  CHECK_EQ(off.usage.prompt_tokens, on.usage.prompt_tokens);
  CHECK_EQ(off.usage.completion_tokens, on.usage.completion_tokens);
}

struct Case {
  Request request;
  Recorder off;
};

std::vector<std::unique_ptr<Case>> run_off(std::mt19937_64& rng, int count, bool has_state = true) {
  std::vector<std::unique_ptr<Case>> cases;
  Harness plain({.has_state = has_state});
  for (int i = 0; i < count; ++i) {
    cases.push_back(std::make_unique<Case>());
    cases.back()->request = any_request(rng, *plain.tokenizer);
    plain.add(cases.back()->request, static_cast<uint64_t>(i + 1), cases.back()->off);
    plain.run();
  }
  return cases;
}

struct Reach {
  int64_t num_drafted = 0, num_accepted = 0, num_preemptions = 0, num_cancelled = 0;
};

// All requests concurrently or one after another, with little memory, some cancelled midway.
void run_on(const std::vector<std::unique_ptr<Case>>& cases, Harness& harness, TestDrafter* drafter,
            std::mt19937_64& rng, Reach& reach) {
  std::vector<Recorder> recorders(cases.size());
  std::vector<bool> cancelled(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    if (drafter) drafter->expect(i + 1, cases[i]->request.prompt_ids, cases[i]->off.tokens);
    harness.add(cases[i]->request, i + 1, recorders[i]);
    for (uint64_t steps = rng() % 12; steps > 0; --steps) harness.core->step();
    if (rng() % 8 == 0 && !recorders[i].finished)
      cancelled[i] = true, harness.core->cancel(i + 1), ++reach.num_cancelled;
  }
  harness.run();
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!cancelled[i]) compare(cases[i]->off, recorders[i]);
    else
      CHECK(std::ranges::equal(recorders[i].tokens, std::span(cases[i]->off.tokens).first(recorders[i].tokens.size())));
  }
  const EngineStats stats = harness.core->stats();
  CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
  CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
  reach.num_drafted += stats.speculation.num_drafted_tokens;
  reach.num_accepted += stats.speculation.num_accepted_tokens;
  reach.num_preemptions += stats.num_preemptions;
}

Limits any_limits(std::mt19937_64& rng, bool has_state = true) {
  return {.num_blocks = static_cast<int64_t>(10 + rng() % 20),
          .max_num_tokens = static_cast<int32_t>(4 + rng() % 40),
          .max_num_seqs = static_cast<int32_t>(1 + rng() % 4),
          .max_checkpoints = static_cast<int32_t>(rng() % 6),
          .has_state = has_state};
}

}  // namespace

PAGODA_TEST(speculation_off_is_on_for_every_request_and_drafter) {
  const uint64_t first = test::seed(50);
  Reach reach;
  for (uint64_t round = 0; round < 500 && !test::failed(); ++round) {
    std::mt19937_64 rng(first + round);
    const bool has_state = round % 8 < 4;
    const auto cases = run_off(rng, 6, has_state);
    const auto drafter = std::make_shared<TestDrafter>(static_cast<Habit>(round % 4), rng());
    Harness harness(any_limits(rng, has_state), drafter);
    run_on(cases, harness, drafter.get(), rng, reach);
    if (test::failed()) test::note("round " + std::to_string(first + round));
  }
  test::note(std::to_string(reach.num_accepted) + " of " + std::to_string(reach.num_drafted) + " drafts held, " +
             std::to_string(reach.num_preemptions) + " preemptions, " + std::to_string(reach.num_cancelled) +
             " cancelled");
  CHECK(reach.num_accepted > 1000 && reach.num_drafted > reach.num_accepted + 1000);
  CHECK(reach.num_preemptions > 0 && reach.num_cancelled > 0);
}

// Three answers to each prompt (n = 3), which share its cached prefix; a third of them calls tools. All concurrently.
PAGODA_TEST(speculation_sixteen_at_once_answer_as_alone) {
  const std::string tools =
      R"({"format":"json","mode":"required","tools":[{"name":"now","parameters":{"type":"object","properties":{"zone":{"enum":["utc","cet"]}},"required":["zone"],"additionalProperties":false}}]})";
  const uint64_t first = test::seed(52);
  Reach reach;
  for (uint64_t round = 0; round < 12 && !test::failed(); ++round) {
    std::mt19937_64 rng(first + round);
    Harness plain({});
    std::vector<std::unique_ptr<Case>> cases;
    for (uint64_t i = 0; i < 16; ++i) {
      const bool is_next = i % 3 > 0;  // of the same prompt
      cases.push_back(std::make_unique<Case>());
      Request& request = cases.back()->request;
      request = is_next ? cases[cases.size() - 2]->request : any_request(rng, *plain.tokenizer);
      if (is_next) ++request.sampling.seed;
      else if (i % 9 == 0) request.grammar = {GrammarKind::tool_calls, tools};
      plain.add(request, i + 1, cases.back()->off);
      plain.run();
    }
    const auto drafter = std::make_shared<TestDrafter>(static_cast<Habit>(round % 4), rng());
    Harness harness({.num_blocks = 80, .max_num_tokens = 64, .max_num_seqs = 16, .max_checkpoints = 4}, drafter);
    run_on(cases, harness, drafter.get(), rng, reach);
    if (test::failed()) test::note("round " + std::to_string(first + round));
  }
  CHECK(reach.num_accepted > 100 && reach.num_drafted > reach.num_accepted + 100 && reach.num_cancelled > 0);
}

PAGODA_TEST(speculation_the_engines_own_drafts_change_nothing) {
  const uint64_t first = test::seed(51);
  Reach reach;
  for (uint64_t round = 0; round < 60 && !test::failed(); ++round) {
    std::mt19937_64 rng(first + round);
    const auto cases = run_off(rng, 6);
    Harness harness(any_limits(rng), nullptr, /*uses_lookup=*/true);
    run_on(cases, harness, nullptr, rng, reach);
    if (test::failed()) test::note("round " + std::to_string(first + round));
  }
  test::note(std::to_string(reach.num_accepted) + " of " + std::to_string(reach.num_drafted) + " drafts held");
  CHECK(reach.num_drafted > 0);
}

// Eight tokens per step with recurrent state, sixteen without it.
static void run_oracle(bool has_state, int num_steps) {
  Harness plain({.has_state = has_state});
  Request request;
  request.prompt_ids.assign(15, 'a');
  request.sampling.max_tokens = 161;
  request.sampling.ignore_eos = true;
  Recorder off, on;
  plain.add(request, 1, off);
  plain.run();
  const auto drafter = std::make_shared<TestDrafter>(Habit::oracle, 1);
  drafter->expect(1, request.prompt_ids, off.tokens);
  Harness harness({.has_state = has_state}, drafter);
  harness.add(request, 1, on);
  harness.run();
  compare(off, on);
  CHECK_EQ(harness.model->num_steps, num_steps);  // the prompt, and 160 tokens from the end of a block on
  CHECK_EQ(plain.model->num_steps, 161);
}

PAGODA_TEST(speculation_an_oracle_makes_eight_tokens_a_step) {
  run_oracle(true, 21);
  run_oracle(false, 11);
}

PAGODA_TEST(speculation_a_request_can_turn_it_off) {
  const auto drafter = std::make_shared<TestDrafter>(Habit::liar, 1);
  Harness harness({}, drafter);
  Request request;
  request.prompt_ids.assign(15, 'a');
  request.sampling.max_tokens = 40;
  request.sampling.ignore_eos = true;
  request.speculate = false;
  Recorder recorder;
  harness.add(request, 1, recorder);
  harness.run();
  CHECK_EQ(harness.core->stats().speculation.num_drafted_tokens, 0);
  CHECK_EQ(recorder.tokens.size(), 40u);
}

}  // namespace pagoda::engine
