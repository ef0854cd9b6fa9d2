// Speculation on a copy task: a model that repeats a file of 800 tokens with three edits, and the lookup drafter;
// earlier answers to the same client, and answers to another client, which are not a source of drafts.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/recorder.h"
#include "engine/speculation/drafters.h"
#include "model/model.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Recorder;

constexpr int32_t kVocab = 500, kFile = 800, kMaxLen = 2 * kFile + 8;

// Returns the token of `text` at the next position, regardless of the tokens in the batch.
class Reciter final : public model::Model {
 public:
  explicit Reciter(std::vector<int32_t> text) : text_(std::move(text)) {}
  int num_steps = 0;

  Status forward(const model::ForwardBatch& batch) override {
    ++num_steps;
    logits_.assign(batch.logits_rows.size() * kVocab, 0.0f);
    for (size_t i = 0; i < batch.logits_rows.size(); ++i) {
      const size_t next = static_cast<size_t>(batch.positions[static_cast<size_t>(batch.logits_rows[i])]) + 1;
      logits_[i * kVocab + static_cast<size_t>(next < text_.size() ? text_[next] : 0)] = 9.0f;
    }
    return ok_status();
  }
  std::span<const int32_t> picked() const noexcept override { return {}; }
  std::span<const float> logits() const noexcept override { return logits_; }
  Status allocate(const EngineLimits&) override { return ok_status(); }
  Status read_block(int32_t, int32_t, std::span<std::byte>) override { return ok_status(); }
  Status write_block(int32_t, std::span<const std::byte>) override { return ok_status(); }
  Status read_slot(int32_t, std::span<std::byte>) override { return ok_status(); }
  Status write_slot(int32_t, std::span<const std::byte>) override { return ok_status(); }

 private:
  std::vector<int32_t> text_;
  std::vector<float> logits_;
};

CoreConfig config_of(bool uses_lookup, bool has_state = true) {
  CoreConfig config;
  config.limits.num_kv_blocks = kMaxLen / 16 + 2;
  config.limits.num_state_slots = has_state ? 1 : 0;
  config.limits.max_num_tokens = 256;
  config.limits.max_num_seqs = 1;
  config.limits.max_blocks_per_seq = kMaxLen / 16 + 2;
  config.max_drafts = uses_lookup ? test::most_drafts(has_state) : 0;
  config.limits.max_draft_rows = config.max_drafts;
  config.limits.max_logits_rows = 1 + config.max_drafts;
  config.limits.max_model_len = kMaxLen;
  config.vocab_size = kVocab;
  config.uses_lookup = uses_lookup;
  return config;
}

TestHooks all_drafts() {
  TestHooks hooks;
  hooks.takes_all_drafts = true;
  return hooks;
}

struct Outcome {
  Recorder recorder;
  int num_steps = 0;
  SpeculationStats speculation;
};

void answer(EngineCore& core, uint64_t id, const std::vector<int32_t>& prompt, const std::string& salt,
            int32_t max_tokens, Recorder& recorder, const std::vector<int32_t>& prediction = {}) {
  Request request;
  request.prompt_ids = prompt;
  request.prediction_ids = prediction;
  request.cache_salt = salt;
  request.sampling.max_tokens = max_tokens;
  request.sampling.num_top_logprobs = 0;
  auto prepared = core.prepare(request, id, &Recorder::on_event, &recorder);
  REQUIRE_OK(prepared);
  core.add(std::move(*prepared));
  while (core.has_work()) core.step();
}

std::unique_ptr<Outcome> copy(const std::vector<int32_t>& file, const std::vector<int32_t>& text, bool uses_lookup,
                              bool has_state = true) {
  auto outcome = std::make_unique<Outcome>();
  Reciter model(text);
  EngineCore core(model, config_of(uses_lookup, has_state), all_drafts());
  answer(core, 1, file, "", kFile, outcome->recorder);
  outcome->num_steps = model.num_steps;
  outcome->speculation = core.stats().speculation;
  return outcome;
}

std::vector<int32_t> random_file(std::mt19937_64& rng) {
  std::vector<int32_t> file(kFile);
  for (int32_t& token : file) token = static_cast<int32_t>(1 + rng() % (kVocab - 1));
  return file;
}

}  // namespace

PAGODA_TEST(speculation_a_copy_with_three_edits_takes_a_third_of_the_steps) {
  std::mt19937_64 rng(test::seed(70));
  const std::vector<int32_t> file = random_file(rng);
  std::vector<int32_t> text = file, copied = file;
  for (const size_t edit : {100, 400, 650}) copied[edit] = copied[edit] % (kVocab - 1) + 1;
  copied.insert(copied.begin() + 401, {7, 8, 9});
  text.insert(text.end(), copied.begin(), copied.begin() + kFile);
  const auto off = copy(file, text, false), on = copy(file, text, true);
  CHECK(std::ranges::equal(off->recorder.tokens, std::span(copied).first(kFile)));
  CHECK(off->recorder.tokens == on->recorder.tokens && off->recorder.logprob_bits == on->recorder.logprob_bits);
  test::note(std::to_string(off->num_steps) + " steps without, " + std::to_string(on->num_steps) + " with; " +
             std::to_string(on->speculation.num_accepted_tokens) + " of " +
             std::to_string(on->speculation.num_drafted_tokens) + " drafts held");
  CHECK(off->num_steps >= 3 * on->num_steps);
}

// Without recurrent state, whose blocks end steps, all 15 drafts of a copy fit in a step.
PAGODA_TEST(speculation_a_copy_without_state_takes_a_tenth_of_the_steps) {
  std::mt19937_64 rng(test::seed(73));
  const std::vector<int32_t> file = random_file(rng);
  std::vector<int32_t> text = file;
  text.insert(text.end(), file.begin(), file.end());
  const auto off = copy(file, text, false, false), on = copy(file, text, true, false);
  CHECK(off->recorder.tokens == file && off->recorder.tokens == on->recorder.tokens);
  CHECK(off->recorder.logprob_bits == on->recorder.logprob_bits);
  CHECK(off->num_steps >= 10 * on->num_steps);
}

// An earlier answer under the same salt is drafted.
PAGODA_TEST(speculation_an_earlier_answer_of_the_same_salt_is_drafted) {
  std::mt19937_64 rng(test::seed(72));
  const std::vector<int32_t> text = random_file(rng);
  const std::vector<int32_t> prompt(text.begin(), text.begin() + 8);
  Reciter model(text);
  EngineCore core(model, config_of(true), all_drafts());
  Recorder first, second;
  answer(core, 1, prompt, "salt", 400, first);
  const int num_alone = model.num_steps;
  answer(core, 2, prompt, "salt", 400, second);
  CHECK(first.tokens == second.tokens && first.logprob_bits == second.logprob_bits);
  CHECK_EQ(num_alone, 400);
  CHECK(model.num_steps - num_alone < 400 / 5);
}

// A prediction is drafted, where it is right, under its own salt.
PAGODA_TEST(speculation_a_predicted_answer_is_drafted) {
  std::mt19937_64 rng(test::seed(74));
  const std::vector<int32_t> text = random_file(rng);
  const std::vector<int32_t> prompt(text.begin(), text.begin() + 8);
  std::vector<int32_t> prediction(text.begin(), text.begin() + 408);
  prediction[200] = prediction[200] % (kVocab - 1) + 1;
  Reciter model(text);
  EngineCore core(model, config_of(true), all_drafts());
  Recorder plain, predicted, other;
  answer(core, 1, prompt, "first", 400, plain);
  const int num_alone = model.num_steps;
  answer(core, 2, prompt, "second", 400, predicted, prediction);
  const int num_predicted = model.num_steps - num_alone;
  answer(core, 3, prompt, "third", 400, other);
  CHECK(plain.tokens == predicted.tokens && plain.logprob_bits == predicted.logprob_bits);
  CHECK_EQ(num_alone, 400);
  CHECK(num_predicted < 400 / 5);
  CHECK_EQ(model.num_steps - num_alone - num_predicted, 400);
}

// Text under another salt does not affect the number of steps or drafts.
PAGODA_TEST(speculation_nothing_of_another_salt_is_drafted) {
  std::mt19937_64 rng(test::seed(71));
  const std::vector<int32_t> secret = random_file(rng);
  const std::vector<int32_t> prompt(secret.begin(), secret.begin() + 8);
  SpeculationStats stats[2];
  for (const bool has_other : {false, true}) {
    Reciter model(secret);
    EngineCore core(model, config_of(true), all_drafts());
    Recorder first, second;
    if (has_other) answer(core, 1, prompt, "first", 400, first);
    const SpeculationStats before = core.stats().speculation;
    answer(core, 2, prompt, "second", 400, second);
    SpeculationStats& own = stats[has_other];
    own = core.stats().speculation;
    own.num_drafted_tokens -= before.num_drafted_tokens;
    own.num_accepted_tokens -= before.num_accepted_tokens;
    CHECK_EQ(second.tokens.size(), 400u);
    CHECK_EQ(second.usage.cached_tokens, 0);
  }
  CHECK_EQ(stats[0].num_drafted_tokens, stats[1].num_drafted_tokens);
  CHECK_EQ(stats[0].num_accepted_tokens, stats[1].num_accepted_tokens);
}

}  // namespace pagoda::engine
