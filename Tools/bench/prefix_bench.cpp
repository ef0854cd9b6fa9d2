// Measures the savings and the cost of the prefix cache on a synthetic shape: time to first token over a chat of ten
// turns, the same prompt cold and warm, the tokens reused after a prompt of 1000 tokens, and the cost of a miss.
// Build: make -C Tools/native prefix_bench     Usage: prefix_bench [shape] [quantize] [threads]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/load/loader.h"

namespace {

using namespace pagoda;
using Tokens = std::vector<int32_t>;

struct Answer {
  Tokens tokens;
  Usage usage;
  double first_ms = 0, total_ms = 0;
  std::chrono::steady_clock::time_point start;

  static void on_event(void* context, const Event* event) {
    Answer& self = *static_cast<Answer*>(context);
    const auto now = std::chrono::steady_clock::now();
    self.total_ms = std::chrono::duration<double, std::milli>(now - self.start).count();
    if (event->kind == EventKind::token && self.tokens.empty()) self.first_ms = self.total_ms;
    if (event->kind == EventKind::token) self.tokens.push_back(event->token_id);
    else self.usage = event->usage;
  }
};

class Bench {
 public:
  explicit Bench(engine::LoadedModel loaded) : loaded_(std::move(loaded)) { start(true); }

  void start(bool has_cache) {  // starts a core with an empty cache
    engine::CoreConfig config = loaded_.core;
    config.prefix_cache = has_cache;
    config.eos_token_ids = {kTurnEnd};
    core_ = std::make_unique<engine::EngineCore>(*loaded_.model, config);
  }

  Answer ask(const Tokens& prompt, int max_tokens) {
    Request request;
    request.prompt_ids = prompt;
    request.sampling.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    request.sampling.ignore_eos = true;
    Answer answer;
    answer.start = std::chrono::steady_clock::now();
    auto prepared = core_->prepare(request, ++last_id_, &Answer::on_event, &answer);
    if (!prepared.is_ok()) {
      std::fprintf(stderr, "%s\n", prepared.status.message.c_str());
      std::exit(1);
    }
    core_->add(std::move(*prepared));
    while (core_->has_work()) core_->step();
    return answer;
  }

  Tokens random_tokens(int count) {
    Tokens tokens;
    for (int i = 0; i < count; ++i)
      tokens.push_back(static_cast<int32_t>(100 + rng_() % static_cast<uint64_t>(loaded_.core.vocab_size - 200)));
    return tokens;
  }
  Tokens turn(int count) {
    Tokens tokens = random_tokens(count - 1);
    tokens.push_back(kTurnEnd);
    return tokens;
  }
  const engine::LoadedModel& loaded() const { return loaded_; }

  static constexpr int32_t kTurnEnd = 7;

 private:
  engine::LoadedModel loaded_;
  std::unique_ptr<engine::EngineCore> core_;
  std::mt19937_64 rng_{1};
  uint64_t last_id_ = 0;
};

void append(Tokens& to, const Tokens& from) { to.insert(to.end(), from.begin(), from.end()); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Turn {
  size_t prompt;
  int cached;
  std::vector<double> first_ms;  // one per chat
};

// Ten turns of 600 tokens: 540 from the user, 5 that open the answer, 54 of the answer, and the end of the turn.
void chat_once(Bench& bench, bool has_cache, std::vector<Turn>& turns) {
  bench.start(has_cache);
  const Tokens opening = bench.random_tokens(5);
  Tokens history;
  for (Turn& turn : turns) {
    append(history, bench.turn(540));
    append(history, opening);
    const Answer answer = bench.ask(history, 55);
    turn.prompt = history.size();
    turn.cached = answer.usage.cached_tokens;
    turn.first_ms.push_back(answer.first_ms);
    append(history, answer.tokens);
    history.back() = Bench::kTurnEnd;
  }
}

// Medians: the speed of a shared machine varies within a chat.
void chat(Bench& bench) {
  for (const auto [has_cache, chats] : {std::pair{true, 5}, {false, 1}}) {
    std::vector<Turn> turns(10);
    for (int i = 0; i < chats; ++i) chat_once(bench, has_cache, turns);
    std::printf("\nchat of ten turns, prefix cache %s, median of %d\nturn  prompt  cached  first token ms\n",
                has_cache ? "on" : "off", chats);
    for (size_t i = 0; i < turns.size(); ++i)
      std::printf("%4zu  %6zu  %6d  %14.1f\n", i + 1, turns[i].prompt, turns[i].cached, median(turns[i].first_ms));
    std::printf("turn 10 / turn 2: %.2f\n", median(turns[9].first_ms) / median(turns[1].first_ms));
  }
}

void cold_and_warm(Bench& bench) {
  bench.start(true);
  std::printf("\nprompt  cold ms  warm ms  ratio  cached\n");
  for (int length : {100, 1000, 4000}) {
    const Tokens prompt = bench.random_tokens(length);
    const Answer cold = bench.ask(prompt, 1), warm = bench.ask(prompt, 1);
    std::printf("%6d  %7.1f  %7.1f  %5.1f  %6d\n", length, cold.first_ms, warm.first_ms, cold.first_ms / warm.first_ms,
                warm.usage.cached_tokens);
  }
}

void reuse(Bench& bench) {
  std::printf("\nafter a prompt of 1000 tokens, a turn of which ends at 600\n%-16s  reused\n", "then");
  for (int offset : {1000, 800, 600, 599, 300, 255}) {
    bench.start(true);
    Tokens prompt = bench.random_tokens(1000), other = prompt;
    prompt[599] = other[599] = Bench::kTurnEnd;
    for (size_t i = static_cast<size_t>(offset); i < other.size(); ++i) other[i] ^= 1;
    bench.ask(prompt, 1);
    const std::string what = offset == 1000 ? "the same again" : "diverges at " + std::to_string(offset);
    std::printf("%-16s  %6d\n", what.c_str(), bench.ask(other, 1).usage.cached_tokens);
  }
}

// Prompts that have nothing in common, with and without the cache, interleaved; medians.
void overhead(Bench& bench) {
  std::printf("\nprompt  answer  off ms  on ms  price of the cache when nothing matches\n");
  for (const auto [length, answer] : {std::pair{100, 20}, {1000, 1}, {4000, 1}}) {
    std::vector<double> times[2];
    for (int round = 0; round < 7; ++round)
      for (bool has_cache : {round % 2 == 0, round % 2 != 0}) {
        bench.start(has_cache);
        times[has_cache].push_back(bench.ask(bench.random_tokens(length), answer).total_ms);
      }
    const double off = median(times[0]), on = median(times[1]);
    std::printf("%6d  %6d  %6.1f  %5.1f  %+.2f %%\n", length, answer, off, on, 100 * (on / off - 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ModelSource source;
  source.shape = argc > 1 ? argv[1] : "qwen3.5-0.8b";
  EngineOptions options;
  options.quantize = argc > 2 ? argv[2] : "8bit";
  options.num_threads = argc > 3 ? std::atoi(argv[3]) : 0;
  options.max_model_len = 8192;
  options.max_num_seqs = 1;
  auto loaded = engine::load(source, options, nullptr);
  if (!loaded.is_ok()) return std::fprintf(stderr, "%s\n", loaded.status.message.c_str()), 1;
  const MemoryPlan& plan = loaded->info.plan;
  std::printf("%s, %s, %s; a state has %.1f MB, %d are kept\n", source.shape.c_str(), loaded->info.weight_dtype.c_str(),
              loaded->info.device.c_str(), static_cast<double>(plan.state_slot_bytes) / 1e6,
              plan.limits.num_checkpoints);
  Bench bench(std::move(*loaded));
  bench.ask(bench.random_tokens(300), 4);  // warms up threads and page tables
  reuse(bench);
  cold_and_warm(bench);
  chat(bench);
  overhead(bench);
}
