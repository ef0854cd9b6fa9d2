// engine core: grammars and thinking budgets limit the tokens of their own request, regardless of the schedule.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/core/engine_core.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeModel;
using test::Recorder;

const std::string kPoint =
    R"({"type": "object", "properties": {"x": {"type": "integer", "minimum": 0, "maximum": 99}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}}, "required": ["x", "tags"]})";

// A core over a FakeModel whose tokens are those of the awkward tokenizer.
struct Harness {
  std::shared_ptr<const text::SubwordTokenizer> tokenizer = test::make_awkward_tokenizer();
  std::unique_ptr<FakeModel> model;
  std::unique_ptr<EngineCore> core;

  explicit Harness(int64_t num_blocks = 64, int32_t max_num_tokens = 64, bool with_tokenizer = true,
                   int32_t num_sample_threads = 1) {
    CoreConfig config;
    config.num_sample_threads = num_sample_threads;
    config.limits.num_kv_blocks = num_blocks;
    config.limits.num_state_slots = 4;
    config.limits.max_num_tokens = max_num_tokens;
    config.limits.max_num_seqs = config.limits.max_logits_rows = 4;
    config.limits.max_blocks_per_seq = static_cast<int32_t>(num_blocks);
    config.limits.max_model_len = static_cast<int32_t>(num_blocks * 16);
    config.vocab_size = tokenizer->vocab_size();
    config.eos_token_ids = {test::end_id(*tokenizer)};
    if (with_tokenizer) config.tokenizer = tokenizer;
    model = std::make_unique<FakeModel>(config.limits, config.limits.block_size, config.vocab_size);
    core = std::make_unique<EngineCore>(*model, config);
  }

  int32_t id(const char* token) const { return tokenizer->find_token(token); }

  Status add(const Request& request, uint64_t request_id, Recorder& recorder) {
    auto prepared = core->prepare(request, request_id, &Recorder::on_event, &recorder);
    if (prepared.is_ok()) core->add(std::move(*prepared));
    return prepared.status;
  }

  void run() {
    for (int i = 0; core->has_work() && i < 100000; ++i) core->step();
    CHECK(!core->has_work());
  }

  void run_alone(const Request& request, Recorder& recorder) {
    CHECK_OK(add(request, 1, recorder));
    run();
  }

  Request request(uint64_t seed, int32_t max_tokens) const {
    Request request;
    for (int i = 0; i < 20; ++i)
      request.prompt_ids.push_back(static_cast<int32_t>('a' + (seed + static_cast<uint64_t>(i)) % 20));
    request.sampling.max_tokens = max_tokens;
    request.sampling.temperature = 1;
    request.sampling.has_seed = true;
    request.sampling.seed = seed;
    request.sampling.num_top_logprobs = 0;
    return request;
  }
};

void check_point(const Recorder& recorder) {
  CHECK(recorder.reason == FinishReason::stop);
  const auto schema = io::parse_json(kPoint), value = io::parse_json(recorder.text);
  CHECK_OK(value);
  if (value.is_ok()) CHECK(test::satisfies(*schema, *schema, *value));
  if (test::failed()) test::note(recorder.text);
}

}  // namespace

PAGODA_TEST(engine_outputs_a_schema_holds_with_every_way_to_sample) {
  Harness harness;
  for (uint64_t seed = 0; seed < 60 && !test::failed(); ++seed) {
    Request request = harness.request(seed, 200);
    request.grammar = {GrammarKind::json_schema, kPoint};
    SamplingParams& sampling = request.sampling;
    if (seed % 2) sampling.top_k = 5;
    if (seed % 3 == 0) sampling.top_p = 0.7f;
    if (seed % 4 == 0) sampling.min_tokens = 40;  // the document ends when it ends
    if (seed % 5 == 0) sampling.logit_bias = {{'{', -50}, {'7', 100}, {'!', 100}};
    if (seed % 6 == 0) sampling.repetition_penalty = 1.5f;
    if (seed % 7 == 0) sampling.temperature = 0;
    Recorder recorder;
    harness.run_alone(request, recorder);
    check_point(recorder);
  }
}

PAGODA_TEST(engine_outputs_max_tokens_ends_a_document_with_length) {
  Harness harness;
  Request request = harness.request(3, 4);
  request.grammar = {GrammarKind::json_schema, kPoint};
  Recorder recorder;
  harness.run_alone(request, recorder);
  CHECK(recorder.reason == FinishReason::length);
  CHECK_EQ(recorder.tokens.size(), 4u);
}

PAGODA_TEST(engine_outputs_a_stop_string_ends_a_document_before_it_is_whole) {
  Harness harness;
  Request request = harness.request(3, 200);
  request.grammar = {GrammarKind::json_schema, kPoint};
  request.sampling.stop = {"tags"};
  Recorder recorder;
  harness.run_alone(request, recorder);
  CHECK(recorder.reason == FinishReason::stop && recorder.stop_string == "tags");
  CHECK(recorder.text.starts_with('{') || recorder.text.starts_with('\n'));
}

PAGODA_TEST(engine_outputs_documents_do_not_depend_on_the_schedule) {
  const uint64_t first = test::seed(40);
  std::vector<Request> requests;
  Harness large;
  for (uint64_t i = 0; i < 6; ++i) {
    requests.push_back(large.request(first + i, 60));
    if (i % 3 != 0)
      requests.back().grammar = {i % 3 == 1 ? GrammarKind::json_schema : GrammarKind::json_object,
                                 i % 3 == 1 ? kPoint : ""};
    requests.back().prompt_ids.push_back(large.id("<think>"));
    requests.back().sampling.thinking_budget = static_cast<int32_t>(i % 2 == 0 ? 5 : 0);
  }
  Harness crowded(/*num_blocks=*/9, /*max_num_tokens=*/7);
  std::vector<Recorder> together(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) CHECK_OK(crowded.add(requests[i], i + 1, together[i]));
  crowded.run();
  CHECK(crowded.core->stats().num_preemptions > 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    Recorder alone;
    large.run_alone(requests[i], alone);
    CHECK(alone.tokens == together[i].tokens);
    CHECK(alone.logprob_bits == together[i].logprob_bits);
  }
}

// Every way to sample, four rows at a time on three threads: the tokens and log probabilities of one thread.
PAGODA_TEST(engine_outputs_do_not_depend_on_the_threads_that_sample) {
  Harness one, several(64, 64, /*with_tokenizer=*/true, /*num_sample_threads=*/3);
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 12; ++i) {
    Request& request = requests.emplace_back(one.request(test::seed(70) + i, 40));
    SamplingParams& sampling = request.sampling;
    sampling.num_top_logprobs = static_cast<int32_t>(i % 3) * 10;
    if (i % 2) sampling.top_p = 0.8f;
    if (i % 3 == 0) sampling.presence_penalty = 1.5f;
    if (i % 4 == 0) sampling.repetition_penalty = 1.2f;
    if (i % 5 == 0) sampling.min_p = 0.05f;
    if (i % 6 == 0) sampling.logit_bias = {{'x', 3}};
    if (i % 7 == 0) request.grammar = {GrammarKind::json_schema, kPoint};
    if (i % 4 == 1) sampling.temperature = 0;
  }
  std::vector<Recorder> together(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) CHECK_OK(several.add(requests[i], i + 1, together[i]));
  several.run();
  for (size_t i = 0; i < requests.size(); ++i) {
    Recorder alone;
    one.run_alone(requests[i], alone);
    CHECK(!alone.tokens.empty() && alone.tokens == together[i].tokens);
    CHECK(alone.logprob_bits == together[i].logprob_bits);
    CHECK(alone.reason == together[i].reason);
  }
}

PAGODA_TEST(engine_outputs_a_spent_budget_closes_the_thinking_with_the_models_token) {
  Harness harness;
  const int32_t open = harness.id("<think>"), close = harness.id("</think>");
  REQUIRE(open >= 0 && close >= 0);
  for (const int32_t budget : {0, 1, 7}) {
    Request request = harness.request(9, 30);
    request.prompt_ids.push_back(open);
    request.prompt_ids.push_back('\n');
    request.sampling.thinking_budget = budget;
    request.sampling.logit_bias = {{close, -100}, {open, -100}, {test::end_id(*harness.tokenizer), -100}};
    Recorder recorder;
    harness.run_alone(request, recorder);
    REQUIRE(recorder.tokens.size() == 30);
    const auto spent = static_cast<size_t>(budget);
    CHECK_EQ(recorder.tokens[spent], close);
    CHECK(recorder.tokens[spent + 1] == '\n' && recorder.tokens[spent + 2] == '\n');
    CHECK_EQ(std::ranges::count(recorder.tokens, close), 1);
    CHECK_EQ(recorder.logprob_bits.size(), recorder.tokens.size());
  }
}

// A tokenizer may have more tokens than its model: a tag that the model cannot produce is never forced.
PAGODA_TEST(engine_outputs_tags_beyond_the_vocabulary_do_not_mark_thinking) {
  Harness harness;
  const int32_t open = harness.id("<think>"), close = harness.id("</think>");
  const int32_t size = std::max(open, close) + 1;
  CHECK(find_thinking_format(harness.tokenizer.get(), size).is_known());
  CHECK(!find_thinking_format(harness.tokenizer.get(), size - 1).is_known());
  CHECK(!find_thinking_format(harness.tokenizer.get(), '\n').is_known());
  CHECK(!find_thinking_format(nullptr, size).is_known());
}

PAGODA_TEST(engine_outputs_the_budget_counts_only_open_thinking) {
  Harness harness;
  const int32_t open = harness.id("<think>"), close = harness.id("</think>");
  const std::vector<LogitBias> no_tags = {{close, -100}, {open, -100}, {test::end_id(*harness.tokenizer), -100}};
  Request request = harness.request(9, 20);
  request.prompt_ids.insert(request.prompt_ids.end(), {open, 'x', close});
  request.sampling.thinking_budget = 2;
  request.sampling.logit_bias = no_tags;
  Recorder closed;
  harness.run_alone(request, closed);
  CHECK_EQ(std::ranges::count(closed.tokens, close), 0);
  request.sampling.logit_bias = {{open, 100}, {close, -100}};  // opens it itself with the first token, and again later
  request.sampling.temperature = 0;
  Recorder opened;
  harness.run_alone(request, opened);
  REQUIRE(opened.tokens.size() >= 4);
  CHECK_EQ(opened.tokens[0], open);
  CHECK_EQ(opened.tokens[3], close);
}

PAGODA_TEST(engine_outputs_stop_strings_end_the_answer_and_not_the_thinking) {
  Harness harness;
  const int32_t open = harness.id("<think>"), close = harness.id("</think>");
  Request request = harness.request(9, 30);
  request.prompt_ids.push_back(open);
  request.sampling.temperature = 0;
  request.sampling.thinking_budget = 5;
  request.sampling.logit_bias = {{'x', 100}};
  for (const char* stop : {"x", "xx"}) {
    request.sampling.stop = {stop, "</think>", "\n\n"};
    Recorder chat;
    harness.run_alone(request, chat);
    CHECK_EQ(chat.text, std::string("xxxxx") + std::string(harness.tokenizer->token_bytes(close)) + "\n\n");
    CHECK(chat.reason == FinishReason::stop && chat.stop_string == stop);
  }
  // Text that no template rendered is all answer.
  request.prompt_has_thinking_tags = false;
  request.sampling.logit_bias = {{'x', 100}};
  request.sampling.stop = {"x"};
  Recorder raw;
  harness.run_alone(request, raw);
  CHECK(raw.text.empty() && raw.stop_string == "x");
}

PAGODA_TEST(engine_outputs_without_limits_the_thinking_leaves_room_for_the_answer) {
  Harness harness;
  const int32_t open = harness.id("<think>"), close = harness.id("</think>");
  Request request = harness.request(9, 0);
  request.prompt_ids.push_back(open);
  request.sampling.logit_bias = {{close, -100}, {open, -100}, {test::end_id(*harness.tokenizer), -100}};
  Recorder recorder;
  harness.run_alone(request, recorder);
  REQUIRE(recorder.tokens.size() == 64 * 16 - request.prompt_ids.size());
  CHECK(std::ranges::find(recorder.tokens, close) - recorder.tokens.begin() ==
        static_cast<std::ptrdiff_t>(recorder.tokens.size() - recorder.tokens.size() / 4));
  request.sampling.max_tokens = 600;  // a given limit is for both
  Recorder limited;
  harness.run_alone(request, limited);
  CHECK_EQ(std::ranges::count(limited.tokens, close), 0);
}

PAGODA_TEST(engine_outputs_the_grammar_begins_after_the_thinking) {
  Harness harness;
  const int32_t open = harness.id("<think>"), close = harness.id("</think>");
  for (uint64_t seed = 0; seed < 12 && !test::failed(); ++seed) {
    Request request = harness.request(seed, 300);
    request.prompt_ids.push_back(open);
    request.grammar = {GrammarKind::json_schema, kPoint};
    request.sampling.thinking_budget = 10;
    request.sampling.logit_bias = {{test::end_id(*harness.tokenizer), 100}};  // would end the thinking immediately
    if (seed % 2) request.sampling.logit_bias.push_back({close, seed % 4 == 1 ? 20.0f : -100.0f});
    Recorder recorder;
    harness.run_alone(request, recorder);
    const auto end = std::ranges::find(recorder.tokens, close);
    REQUIRE(end != recorder.tokens.end());
    CHECK(end - recorder.tokens.begin() <= 10);
    Recorder answer;
    answer.reason = recorder.reason;
    for (auto token = end + 1; token != recorder.tokens.end(); ++token) {
      if (*token != test::end_id(*harness.tokenizer)) answer.text += harness.tokenizer->token_bytes(*token);
    }
    check_point(answer);
  }
}

PAGODA_TEST(engine_outputs_a_prompt_without_a_template_that_mentions_thinking_leaves_the_grammar_on) {
  Harness harness;
  for (uint64_t seed = 0; seed < 8 && !test::failed(); ++seed) {
    Request request = harness.request(seed, 200);
    request.prompt_ids.insert(request.prompt_ids.begin() + 3 + static_cast<std::ptrdiff_t>(seed),
                              harness.id("<think>"));
    if (seed % 2) request.prompt_ids.push_back(harness.id("<think>"));
    request.prompt_has_thinking_tags = false;
    request.grammar = {GrammarKind::json_schema, kPoint};
    Recorder recorder;
    harness.run_alone(request, recorder);
    check_point(recorder);
  }
}

PAGODA_TEST(engine_outputs_refuses_what_it_cannot_do) {
  Harness harness, bare(64, 64, /*with_tokenizer=*/false);
  Recorder recorder;
  Request request = harness.request(1, 10);
  request.grammar = {GrammarKind::json_schema, R"({"not": {}})"};
  CHECK(harness.add(request, 1, recorder).message.find("'not'") != std::string::npos);
  request.grammar = {GrammarKind::json_object, ""};
  CHECK(bare.add(request, 1, recorder).message.find("tokenizer") != std::string::npos);
  request.sampling.ignore_eos = true;
  CHECK(harness.add(request, 1, recorder).message.find("ignore_eos") != std::string::npos);
  request = harness.request(1, 10);
  request.sampling.thinking_budget = 5;
  CHECK(bare.add(request, 1, recorder).code == StatusCode::unsupported);
  request.sampling.thinking_budget = -2;
  CHECK(harness.add(request, 1, recorder).message.find("thinking_budget") != std::string::npos);
}

PAGODA_TEST(engine_outputs_many_schemas_leave_little_behind) {
  const auto tokenizer = test::make_awkward_tokenizer();
  grammar::GrammarCache cache(tokenizer, tokenizer->vocab_size(), {});
  std::vector<std::weak_ptr<grammar::TokenGrammar>> seen;
  for (int i = 0; i < 300; ++i) {
    auto grammar = cache.find_or_compile({GrammarKind::json_schema, R"({"const": )" + std::to_string(i) + "}"});
    REQUIRE_OK(grammar);
    seen.push_back(*grammar);
  }
  const auto alive = std::ranges::count_if(seen, [](const auto& entry) { return !entry.expired(); });
  CHECK_EQ(static_cast<size_t>(alive), grammar::GrammarCache::kMaxGrammars);
  auto again = cache.find_or_compile({GrammarKind::json_schema, R"({"const": 299})"});
  REQUIRE_OK(again);
  CHECK(*again == seen.back().lock());
}

}  // namespace pagoda::engine
