// R1 for everything that clients may combine: random requests with grammars, adapters, priorities, two keys, penalties,
// biases and log probabilities of prompts share engines with little memory, some are cancelled, and each answer has the
// bits that it has alone. Keys and adapters share no prefixes, and nothing stays allocated.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "engine/schedules.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

constexpr int32_t kMixedEnd = 3;  // ends a document; bytes are tokens

struct MixedHarness {
  LoadedModel loaded;
  std::unique_ptr<EngineCore> core;

  bool add(const Request& request, uint64_t id, Recorder& recorder) {
    auto prepared = core->prepare(request, id, &Recorder::on_event, &recorder);
    CHECK_OK(prepared);
    if (prepared.is_ok()) core->add(std::move(*prepared));
    return prepared.is_ok();
  }
};

// The model has no tokenizer: one whose first 128 tokens are the ASCII characters makes grammars possible.
std::unique_ptr<MixedHarness> open_mixed(EngineOptions options, bool takes_all_drafts) {
  const std::string fixtures = test::fixtures_dir();
  options.loras = {{"all", fixtures + "/lora/qwen3_5_all"}, {"rslora", fixtures + "/lora/qwen3_5_rslora"}};
  auto loaded = load(ModelSource{fixtures + "/model/qwen3_5", {}}, options, nullptr);
  CHECK_OK(loaded);
  if (!loaded.is_ok()) return nullptr;
  auto harness = std::make_unique<MixedHarness>();
  harness->loaded = std::move(*loaded);
  CoreConfig& config = harness->loaded.core;
  static const auto tokenizer = test::make_awkward_tokenizer();
  config.tokenizer = tokenizer;
  config.eos_token_ids = {kMixedEnd};
  TestHooks hooks;
  hooks.takes_all_drafts = takes_all_drafts;
  harness->core = std::make_unique<EngineCore>(*harness->loaded.model, config, std::move(hooks));
  return harness;
}

GrammarSpec any_grammar(std::mt19937_64& rng) {
  const std::string number = std::to_string(rng() % 12);  // more schemas than there are running requests
  switch (rng() % 6) {
    case 0:
      return {GrammarKind::json_schema, R"({"type":"object","properties":{"k)" + number +
                                            R"(":{"type":"string","maxLength":9},"n":{"type":"integer"}},)" +
                                            R"("required":["k)" + number + R"(","n"],"additionalProperties":false})"};
    case 1: return {GrammarKind::regex, "[a-f]{2,9}(-[0-9]{1,4}){0," + number + "}"};
    case 2: return {GrammarKind::choice, R"(["yes","no","item )" + number + R"(","yesterday"])"};
    case 3: return {GrammarKind::json_object, ""};
    case 4: return {GrammarKind::gbnf, "root ::= (\"<\" [a-z]+ \">\")+ \"" + number + "\""};
    default: return {};
  }
}

Request any_mixed_request(std::mt19937_64& rng) {
  const auto one_in = [&](uint64_t n) { return rng() % n == 0; };
  const auto pick = [&](uint64_t low, uint64_t high) { return static_cast<int32_t>(low + rng() % (high - low + 1)); };
  Request request = random_request(rng, 128, pick(1, 40), pick(1, 32));
  SamplingParams& params = request.sampling;
  params.ignore_eos = false;
  if (one_in(3)) params.presence_penalty = 1.5f;
  if (one_in(4)) params.repetition_penalty = 1.2f;
  if (one_in(3)) params.top_k = pick(1, 30);
  if (one_in(3)) params.top_p = 0.9f;
  if (one_in(4)) params.min_p = 0.05f;
  if (one_in(4)) params.logit_bias = {{pick(4, 127), 3.0f}, {pick(4, 127), -100.0f}};
  if (!one_in(3)) request.grammar = any_grammar(rng);
  const char* const loras[] = {"", "all", "rslora"};
  request.lora = loras[rng() % std::size(loras)];
  request.priority = pick(0, 4) - 2;
  request.share_id = request.cache_salt = one_in(2) ? "key one" : "key two";
  if (one_in(8)) request.num_prompt_logprobs = pick(0, 3);
  return request;
}

// Every request alone, without caches or drafts. Every second prompt continues that of another, whosever it is.
std::vector<std::unique_ptr<Expected>> run_mixed_solo(int count, std::mt19937_64& rng) {
  std::vector<std::unique_ptr<Expected>> all;
  EngineOptions options = options_for(1);
  options.prefix_cache = false;
  options.speculation = "off";
  auto harness = open_mixed(options, false);
  for (int i = 0; harness && i < count; ++i) {
    auto expected = std::make_unique<Expected>();
    expected->request = any_mixed_request(rng);
    if (i % 2 == 1) {
      const Expected& other = *all[rng() % all.size()];
      std::vector<int32_t>& ids = expected->request.prompt_ids;
      ids.insert(ids.begin(), other.request.prompt_ids.begin(), other.request.prompt_ids.end());
      ids.resize(std::min<size_t>(ids.size(), 120));
    }
    CHECK(harness->add(expected->request, static_cast<uint64_t>(i + 1), expected->solo));
    while (harness->core->has_work()) harness->core->step();
    const bool is_whole = expected->solo.reason == FinishReason::stop;
    if (is_whole && expected->request.grammar.kind == GrammarKind::json_schema)
      CHECK_OK(io::parse_json(expected->solo.text));
    all.push_back(std::move(expected));
  }
  return all;
}

struct MixedEntry {
  const Expected* expected = nullptr;
  Recorder recorder;
  bool aborted = false;
};
using MixedEntries = std::map<uint64_t, MixedEntry>;

// A prefix can only come from a request of the same key and adapter.
void check_mixed_prefix(const MixedEntries& entries, uint64_t id) {
  const Request& own = entries.at(id).expected->request;
  size_t longest = 0;
  for (const auto& [other_id, entry] : entries) {
    const Request& other = entry.expected->request;
    if (other_id == id || other.cache_salt != own.cache_salt || other.lora != own.lora) continue;
    std::vector<int32_t> text = other.prompt_ids;
    text.insert(text.end(), entry.recorder.tokens.begin(), entry.recorder.tokens.end());
    const auto end = std::ranges::mismatch(own.prompt_ids, text).in1;
    longest = std::max(longest, static_cast<size_t>(end - own.prompt_ids.begin()));
  }
  CHECK(static_cast<size_t>(entries.at(id).recorder.usage.matched_tokens) <= longest);
}

struct MixedReach : Reach {
  int64_t num_late = 0, num_guided = 0;
};

void run_mixed_schedule(const std::vector<std::unique_ptr<Expected>>& all, uint64_t seed, MixedReach& reach) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) {
    return static_cast<int>(low + rng() % static_cast<uint64_t>(high - low + 1));
  };
  EngineOptions options = options_for(pick(1, 3));
  options.block_size = 8 << pick(0, 2);
  options.max_num_seqs = pick(1, 6);
  options.max_num_batched_tokens = pick(options.max_num_seqs, 100);
  options.num_kv_blocks = pick(192, 260) / options.block_size;
  options.speculation = pick(0, 1) ? "auto" : "off";
  auto harness = open_mixed(options, pick(0, 1) == 1);
  if (!harness) return;
  MixedEntries entries;
  for (int to_add = pick(10, 40); to_add > 0 || harness->core->has_work();) {
    if (to_add > 0 && pick(0, 2) > 0) {
      const auto id = static_cast<uint64_t>(to_add--);
      MixedEntry& entry = entries[id];
      entry.expected = all[static_cast<size_t>(pick(0, static_cast<int>(all.size()) - 1))].get();
      if (!harness->add(entry.expected->request, id, entry.recorder)) return;
    }
    if (!entries.empty() && pick(0, 40) == 0) {
      auto& [id, entry] = *std::next(entries.begin(), pick(0, static_cast<int>(entries.size()) - 1));
      if (!entry.recorder.finished) entry.aborted = true, ++reach.num_aborts;
      harness->core->cancel(id);
    }
    harness->core->step();
  }
  const EngineStats stats = harness->core->stats();
  for (const auto& [id, entry] : entries) {
    compare(*entry.expected, entry.recorder, entry.aborted);
    CHECK(entry.recorder.finished.load());
    if (!entry.aborted) {
      CHECK_EQ(entry.recorder.text, entry.expected->solo.text);
      CHECK(entry.recorder.reason == entry.expected->solo.reason);
      CHECK(entry.recorder.prompt_bits == entry.expected->solo.prompt_bits);
    }
    if (stats.num_preemptions == 0) check_mixed_prefix(entries, id);  // later it may find its own
    ++reach.num_compared;
    reach.num_guided += (entry.expected->request.grammar.kind != GrammarKind::none);
  }
  reach.num_preemptions += stats.num_preemptions;
  reach.num_hits += stats.cache.num_hits;
  reach.num_accepted += stats.speculation.num_accepted_tokens;
  CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
  CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
}

}  // namespace

// PAGODA_MIXED_REQUESTS=20000 for a long run.
PAGODA_TEST(engine_same_bits_of_mixed_requests_with_grammars_adapters_priorities_and_keys) {
  const char* asked = std::getenv("PAGODA_MIXED_REQUESTS");
  const int64_t count = asked ? std::max(1, std::atoi(asked)) : 240;
  const uint64_t first = test::seed(75);
  std::mt19937_64 rng(first);
  const auto all = run_mixed_solo(static_cast<int>(std::min<int64_t>(80 + count / 20, 500)), rng);
  REQUIRE(!all.empty());
  MixedReach reach;
  for (uint64_t i = 0; reach.num_compared < count && !test::failed(); ++i) {
    run_mixed_schedule(all, first + i, reach);
    if (test::failed()) test::note("schedule " + std::to_string(first + i));
  }
  test::note(std::to_string(all.size()) + " requests alone, " + std::to_string(reach.num_compared) +
             " compared, of which " + std::to_string(reach.num_guided) + " with a grammar; " +
             std::to_string(reach.num_preemptions) + " preemptions, " + std::to_string(reach.num_aborts) + " aborts, " +
             std::to_string(reach.num_hits) + " hits, " + std::to_string(reach.num_accepted) + " drafts held; seed " +
             std::to_string(first));
  CHECK(reach.num_guided > 0 && reach.num_preemptions > 0 && reach.num_aborts > 0 && reach.num_hits > 0 &&
        reach.num_accepted > 0);
}

}  // namespace pagoda::engine
