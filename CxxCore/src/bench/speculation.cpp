// SpeculationBench: engines over one model, answers compared bit by bit, medians of rounds.
#include "bench/speculation.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/json.h"
#include "bench/oracle.h"
#include "engine/core/engine_core.h"
#include "pagoda/event.h"
#include "pagoda/request.h"

namespace pagoda::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Prompts = std::vector<std::vector<int32_t>>;

constexpr int32_t kRandomPromptTokens = 64;

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // empty unless requested
  FinishReason reason = FinishReason::none;
  Usage usage;
  Status status;
  Clock::time_point first, last;

  static void on_event(void* context, const Event* event) {
    Answer& self = *static_cast<Answer*>(context);
    self.last = Clock::now();
    if (event->kind == EventKind::finished) {
      self.reason = event->finish_reason;
      self.usage = event->usage;
      self.status = event->status;
      return;
    }
    if (self.tokens.empty()) self.first = self.last;
    self.tokens.push_back(event->token_id);
    if (event->has_logprob) self.logprobs.push_back(event->logprob);
  }
};

struct Outcome {
  std::vector<Answer> answers;
  double seconds = 0;  // from the time all sequences have a token to the last token
  int64_t num_tokens = 0;
  SpeculationStats speculation;
  speculate::Policy policy;  // after the run
};

struct Run {
  const Prompts& prompts;
  const SpeculationBenchSettings& settings;
  bool has_drafts = false;
  bool has_logprobs = false;
  std::shared_ptr<Oracle> oracle{};
  std::shared_ptr<const speculate::Policy> policy{};  // learned in the previous round: real engines outlive one answer
};

engine::CoreConfig config_for(const engine::LoadedModel& loaded, const Run& run) {
  engine::CoreConfig config = loaded.core;
  config.prefix_cache = false;
  config.disk = nullptr;
  config.policy = run.policy;
  if (!run.has_drafts) {
    config.max_drafts = config.limits.max_draft_rows = 0;
    config.uses_head = false;
  } else if (run.oracle) {
    config.uses_head = false;
  }
  return config;
}

engine::TestHooks hooks_for(const Run& run) {
  engine::TestHooks hooks;
  if (run.has_drafts) hooks.drafter = run.oracle;
  hooks.admits_drafter = true;
  return hooks;
}

Request request_for(const Run& run, size_t index) {
  Request request;
  request.prompt_ids = run.prompts[index];
  request.sampling.max_tokens = run.settings.num_tokens;
  request.sampling.ignore_eos = true;
  request.sampling.has_seed = true;
  request.sampling.seed = index;
  request.sampling.temperature = index % 2 == 0 ? 0.0f : 0.6f;
  if (run.has_logprobs) request.sampling.num_top_logprobs = 0;
  return request;
}

// Runs all requests concurrently to their end.
Result<Outcome> answer(engine::LoadedModel& loaded, const Run& run) {
  engine::EngineCore core(*loaded.model, config_for(loaded, run), hooks_for(run));
  Outcome outcome;
  outcome.answers.resize(run.prompts.size());
  for (size_t i = 0; i < run.prompts.size(); ++i) {
    PAGODA_ASSIGN_OR_RETURN(auto prepared,
                            core.prepare(request_for(run, i), i + 1, &Answer::on_event, &outcome.answers[i]));
    core.add(std::move(prepared));
  }
  while (core.has_work()) core.step();
  Clock::time_point first = outcome.answers[0].first, last = outcome.answers[0].last;
  for (const Answer& answer : outcome.answers) {
    if (!answer.status.is_ok()) return answer.status;
    first = std::max(first, answer.first);
    last = std::max(last, answer.last);
  }
  for (const Answer& answer : outcome.answers) outcome.num_tokens += static_cast<int64_t>(answer.tokens.size()) - 1;
  outcome.seconds = std::max(std::chrono::duration<double>(last - first).count(), 1e-9);
  outcome.speculation = core.stats().speculation;
  if (run.policy) outcome.speculation.saved_ms -= 1e3 * run.policy->saved_seconds();
  outcome.policy = core.policy();
  return outcome;
}

int64_t differing_bits(const Answer& a, const Answer& b) {
  int64_t count = a.reason != b.reason;
  count += a.tokens.size() != b.tokens.size() || a.logprobs.size() != b.logprobs.size();
  count += a.usage.prompt_tokens != b.usage.prompt_tokens || a.usage.completion_tokens != b.usage.completion_tokens;
  for (size_t i = 0; i < std::min(a.tokens.size(), b.tokens.size()); ++i)
    count += std::popcount(static_cast<uint32_t>(a.tokens[i] ^ b.tokens[i]));
  for (size_t i = 0; i < std::min(a.logprobs.size(), b.logprobs.size()); ++i)
    count += std::popcount(std::bit_cast<uint32_t>(a.logprobs[i]) ^ std::bit_cast<uint32_t>(b.logprobs[i]));
  return count;
}

int64_t differing_bits(const Outcome& a, const Outcome& b) {
  int64_t count = 0;
  for (size_t i = 0; i < a.answers.size(); ++i) count += differing_bits(a.answers[i], b.answers[i]);
  return count;
}

void add(const SpeculationStats& from, SpeculationStats& to) {
  to.num_draft_steps += from.num_draft_steps;
  to.num_drafted_tokens += from.num_drafted_tokens;
  to.num_accepted_tokens += from.num_accepted_tokens;
  for (size_t i = 0; i < std::size(to.num_accepted_at); ++i) to.num_accepted_at[i] += from.num_accepted_at[i];
  to.saved_ms += from.saved_ms;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

struct Pair {
  Outcome without, with;
};

// A drafter that knows the texts, by index; null unless the settings ask for one.
std::shared_ptr<Oracle> oracle_for(const SpeculationBenchSettings& settings, const Prompts& texts) {
  if (settings.accept < 0) return nullptr;
  auto oracle = std::make_shared<Oracle>(settings.accept);
  for (size_t i = 0; i < texts.size(); ++i) oracle->learn(i + 1, texts[i]);
  return oracle;
}

// The order alternates, so that a machine that becomes slower or faster favours neither side. Round 0 fills `texts`
// with the prompts and answers, which are the same in all rounds.
Result<Pair> answer_both(engine::LoadedModel& loaded, const Prompts& prompts, const SpeculationBenchSettings& settings,
                         int32_t round, std::shared_ptr<const speculate::Policy> policy, Prompts& texts) {
  const Run plain{.prompts = prompts, .settings = settings, .has_logprobs = round == 0};
  Pair pair;
  for (const bool has_drafts : {round % 2 == 1, round % 2 == 0}) {
    Run run = plain;
    run.has_drafts = has_drafts;
    if (has_drafts) {
      run.oracle = oracle_for(settings, texts);
      run.policy = policy;
    }
    PAGODA_ASSIGN_OR_RETURN(Outcome outcome, answer(loaded, run));
    for (size_t i = 0; round == 0 && !has_drafts && i < prompts.size(); ++i) {
      texts.push_back(prompts[i]);
      texts[i].insert(texts[i].end(), outcome.answers[i].tokens.begin(), outcome.answers[i].tokens.end());
    }
    (has_drafts ? pair.with : pair.without) = std::move(outcome);
  }
  return pair;
}

// The first pair of runs is not timed: it warms up, lets the policy measure the cost of steps, and also compares log
// probabilities.
Result<SpeculationBenchRow> measure(engine::LoadedModel& loaded, const std::string& kind, const Prompts& prompts,
                                    const SpeculationBenchSettings& settings) {
  SpeculationBenchRow row;
  row.kind = kind;
  std::vector<double> plain_rates, rates, ratios;
  std::shared_ptr<const speculate::Policy> policy;
  Prompts texts;
  for (int32_t round = 0; round <= settings.num_rounds; ++round) {
    PAGODA_ASSIGN_OR_RETURN(Pair pair, answer_both(loaded, prompts, settings, round, policy, texts));
    policy = std::make_shared<speculate::Policy>(std::move(pair.with.policy));
    const Outcome &without = pair.without, &with = pair.with;
    row.num_differing_bits += differing_bits(without, with);
    add(with.speculation, row.speculation);
    if (round == 0) continue;
    plain_rates.push_back(static_cast<double>(without.num_tokens) / without.seconds);
    rates.push_back(static_cast<double>(with.num_tokens) / with.seconds);
    ratios.push_back(without.seconds / with.seconds);
  }
  row.plain_tokens_per_second = median(std::move(plain_rates));
  row.tokens_per_second = median(std::move(rates));
  row.speedup = median(std::move(ratios));
  return row;
}

Status encode(const engine::LoadedModel& loaded, const std::string& text, std::vector<int32_t>& ids) {
  if (!loaded.chat_template) return loaded.tokenizer->encode(text, /*parse_special=*/false, ids);
  using io::Json;
  const Json message = Json::make_object({{"role", Json::make_string("user")}, {"content", Json::make_string(text)}});
  const Json variables =
      Json::make_object({{"messages", Json::make_array({message})}, {"add_generation_prompt", Json::make_bool(true)}});
  PAGODA_ASSIGN_OR_RETURN(std::vector<PromptSegment> segments, loaded.chat_template->render(variables));
  return loaded.tokenizer->encode(segments, ids);
}

std::vector<int32_t> random_ids(uint64_t seed, int32_t vocab_size) {
  std::mt19937_64 rng(seed);
  std::vector<int32_t> ids(kRandomPromptTokens);
  for (int32_t& id : ids) id = static_cast<int32_t>(rng() % static_cast<uint64_t>(vocab_size));
  return ids;
}

}  // namespace

std::vector<SpeculationBenchPrompt> speculation_prompts() {
  std::string code;
  for (const char* name : {"width", "height", "depth", "weight", "length", "radius"})
    code += std::string("def get_") + name + "(item):\n    value = item." + name +
            "\n    if value is None:\n        return 0\n    return value\n\n";
  return {{"code edit", "Repeat this file and rename item to thing:\n" + code},
          {"JSON", "Give me a list of three people with name and age as JSON."},
          {"prose", "Tell me a story about a dog and a cat."},
          {"chat", "Hello! What is the capital of France, and what is 17 + 25?"}};
}

Status check(const SpeculationBenchSettings& settings) {
  if (settings.num_tokens < 2)
    return make_error(StatusCode::invalid_argument, "num_tokens is below 2: the first one is not timed");
  if (settings.num_rounds < 1) return make_error(StatusCode::invalid_argument, "num_rounds is below 1");
  if (settings.num_sequences < 1) return make_error(StatusCode::invalid_argument, "num_sequences is below 1");
  if (!(settings.accept <= 1)) return make_error(StatusCode::invalid_argument, "accept is not a chance: at most 1");
  return ok_status();
}

Status measure_speculation(engine::LoadedModel& loaded, const SpeculationBenchSettings& settings,
                           const std::function<void(const SpeculationBenchRow&)>& report) {
  if (loaded.core.max_drafts == 0)
    return make_field_error(StatusCode::invalid_argument, "speculation",
                            "speculation is off, so there is nothing to compare");
  std::vector<SpeculationBenchPrompt> prompts = settings.prompts;
  if (!loaded.tokenizer) prompts = {{"random ids", {}}};
  for (const SpeculationBenchPrompt& prompt : prompts) {
    Prompts ids(static_cast<size_t>(settings.num_sequences));
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!loaded.tokenizer) ids[i] = random_ids(i, loaded.core.vocab_size);
      else PAGODA_RETURN_IF_ERROR(encode(loaded, prompt.text, ids[i]));
    }
    PAGODA_ASSIGN_OR_RETURN(SpeculationBenchRow row, measure(loaded, prompt.kind, ids, settings));
    report(row);
  }
  return ok_status();
}

}  // namespace pagoda::bench
