// Measures what guessing tokens ahead brings: the same requests in turns with and without, per kind of text, with the
// drafts that held by place, the speed-up, and the number of differing bits, which must be 0.
// Build: make -C Tools/native spec_bench
// Usage: spec_bench MODEL_FOLDER|shape:NAME [--quantize F] [--threads N] [--speculate HOW] [--tokens N] [--rounds N]
//        [--sequences N] [--accept P]     (P: an oracle whose drafts hold with that chance, for random weights)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine_core.h"
#include "engine/loader.h"

namespace {

using namespace pagoda;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string model, quantize = "auto", speculate = "auto";
  int threads = 0, tokens = 128, rounds = 5, sequences = 1;
  double accept = -1;
};

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<uint32_t> logprob_bits;
  Clock::time_point first, last;

  static void on_event(void* context, const Event* event) {
    Answer& self = *static_cast<Answer*>(context);
    self.last = Clock::now();
    if (event->kind != EventKind::token) return;
    if (self.tokens.empty()) self.first = self.last;
    self.tokens.push_back(event->token_id);
    uint32_t bits;
    std::memcpy(&bits, &event->logprob, sizeof bits);
    self.logprob_bits.push_back(bits);
  }
};

// Right with a chance, from the answers of a run without drafts.
class Oracle final : public speculate::Drafter {
 public:
  explicit Oracle(double chance) : chance_(chance) {}
  std::unordered_map<uint64_t, std::vector<int32_t>> texts;

  void propose(const request::Sequence& sequence, int32_t max_drafts, std::vector<int32_t>& drafts) override {
    const std::vector<int32_t>& text = texts[sequence.id];
    for (int32_t i = 0; i < max_drafts; ++i) {
      const size_t at = sequence.tokens.size() + static_cast<size_t>(i);
      if (at >= text.size()) return;
      const bool is_right = static_cast<double>(rng_() >> 11) * 0x1p-53 < chance_;
      drafts.push_back(is_right ? text[at] : (text[at] == 0 ? 1 : 0));
    }
  }

 private:
  double chance_;
  std::mt19937_64 rng_{1};
};

struct Kind {
  const char* name;
  std::string text;
};

std::vector<Kind> kinds() {
  std::string code;
  for (const char* name : {"width", "height", "depth", "weight", "length", "radius"})
    code += std::string("def get_") + name + "(item):\n    value = item." + name +
            "\n    if value is None:\n        return 0\n    return value\n\n";
  return {{"story", "Tell me a story about a dog and a cat."},
          {"chat", "Hello! What is the capital of France, and what is 17 + 25?"},
          {"JSON", "Give me a list of three people with name and age as JSON."},
          {"code edit", "Repeat this file and rename item to thing:\n" + code}};
}

std::vector<int32_t> encode(const engine::LoadedModel& loaded, const std::string& text, int index) {
  std::vector<int32_t> ids;
  if (loaded.tokenizer) {
    const std::string chat = "<|im_start|>user\n" + text + "<|im_end|>\n<|im_start|>assistant\n";
    if (!loaded.tokenizer->encode(chat, true, ids).is_ok()) ids.clear();
    return ids;
  }
  std::mt19937_64 rng(static_cast<uint64_t>(index) + text.size());
  for (int i = 0; i < 64; ++i)
    ids.push_back(static_cast<int32_t>(rng() % static_cast<uint64_t>(loaded.core.vocab_size)));
  return ids;
}

struct Outcome {
  std::vector<Answer> answers;
  double seconds = 0;  // decoding
  int64_t num_tokens = 0;
  SpeculationStats stats;
};

Outcome run(engine::LoadedModel& loaded, const std::string& text, const Settings& s, bool speculates,
            const std::shared_ptr<Oracle>& oracle) {
  engine::CoreConfig config = loaded.core;
  config.prefix_cache = false;
  config.disk = nullptr;
  if (!speculates) config.max_drafts = config.max_draft_rows = 0, config.uses_head = false;
  if (speculates) config.drafter = oracle;
  engine::EngineCore core(*loaded.model, config);
  Outcome outcome;
  outcome.answers.resize(static_cast<size_t>(s.sequences));
  for (int i = 0; i < s.sequences; ++i) {
    Request request;
    request.prompt_ids = encode(loaded, text, i);
    request.sampling.max_tokens = s.tokens;
    request.sampling.ignore_eos = true;
    request.sampling.has_seed = true;
    request.sampling.seed = static_cast<uint64_t>(i);
    request.sampling.temperature = i % 2 == 0 ? 0.0f : 0.6f;
    Answer& answer = outcome.answers[static_cast<size_t>(i)];
    auto prepared = core.prepare(request, static_cast<uint64_t>(i + 1), &Answer::on_event, &answer);
    if (!prepared.is_ok()) std::fprintf(stderr, "%s\n", prepared.status.message.c_str()), std::exit(1);
    core.add(std::move(*prepared));
  }
  while (core.has_work()) core.step();
  Clock::time_point first = outcome.answers[0].first, last = outcome.answers[0].last;
  for (const Answer& answer : outcome.answers) {
    first = std::max(first, answer.first);
    last = std::max(last, answer.last);
    outcome.num_tokens += static_cast<int64_t>(answer.tokens.size()) - 1;
  }
  outcome.seconds = std::chrono::duration<double>(last - first).count();
  outcome.stats = core.stats().speculation;
  return outcome;
}

int64_t differing(const Outcome& a, const Outcome& b) {
  int64_t count = 0;
  for (size_t i = 0; i < a.answers.size(); ++i) {
    const Answer &x = a.answers[i], &y = b.answers[i];
    count += x.tokens.size() != y.tokens.size();
    for (size_t t = 0; t < std::min(x.tokens.size(), y.tokens.size()); ++t)
      count += __builtin_popcount(static_cast<uint32_t>(x.tokens[t] ^ y.tokens[t])) +
               __builtin_popcount(x.logprob_bits[t] ^ y.logprob_bits[t]);
  }
  return count;
}

void measure(engine::LoadedModel& loaded, const Kind& kind, const Settings& s) {
  std::vector<double> ratios, off_rates, on_rates;
  int64_t bits = 0;
  SpeculationStats stats;
  for (int round = 0; round < s.rounds; ++round) {
    const Outcome off = run(loaded, kind.text, s, false, nullptr);
    std::shared_ptr<Oracle> oracle;
    if (s.accept >= 0) oracle = std::make_shared<Oracle>(s.accept);
    for (int i = 0; oracle && i < s.sequences; ++i) {
      std::vector<int32_t>& text = oracle->texts[static_cast<uint64_t>(i + 1)];
      text = encode(loaded, kind.text, i);
      const std::vector<int32_t>& answer = off.answers[static_cast<size_t>(i)].tokens;
      text.insert(text.end(), answer.begin(), answer.end());
    }
    const Outcome on = run(loaded, kind.text, s, true, oracle);
    bits += differing(off, on);
    off_rates.push_back(static_cast<double>(off.num_tokens) / off.seconds);
    on_rates.push_back(static_cast<double>(on.num_tokens) / on.seconds);
    ratios.push_back(off.seconds / on.seconds);
    stats = on.stats;
  }
  const auto median = [](std::vector<double>& v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
  };
  std::printf("%-10s off %8.1f t/s, on %8.1f t/s, %5.2fx; %lld of %lld drafts held, by place", kind.name,
              median(off_rates), median(on_rates), median(ratios), static_cast<long long>(stats.num_accepted_tokens),
              static_cast<long long>(stats.num_drafted_tokens));
  for (const int64_t count : stats.num_accepted_at) std::printf(" %lld", static_cast<long long>(count));
  std::printf("; %lld bits differ\n", static_cast<long long>(bits));
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  if (argc > 1) s.model = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--quantize") s.quantize = value;
    else if (name == "--speculate") s.speculate = value;
    else if (name == "--threads") s.threads = std::atoi(value.c_str());
    else if (name == "--tokens") s.tokens = std::atoi(value.c_str());
    else if (name == "--rounds") s.rounds = std::atoi(value.c_str());
    else if (name == "--sequences") s.sequences = std::atoi(value.c_str());
    else if (name == "--accept") s.accept = std::atof(value.c_str());
  }
  EngineOptions options;
  options.quantize = s.quantize;
  options.speculation = s.speculate;
  options.num_threads = s.threads;
  options.max_num_seqs = s.sequences;
  options.max_model_len = 2048;
  ModelSource source{s.model, {}};
  if (s.model.starts_with("shape:")) source = {"", {}, s.model.substr(6)};
  auto loaded = engine::load(source, options, nullptr);
  if (!loaded.is_ok()) {
    std::fprintf(stderr, "%s\n", loaded.status.message.c_str());
    return 1;
  }
  for (const Kind& kind : kinds()) measure(*loaded, kind, s);
  return 0;
}
