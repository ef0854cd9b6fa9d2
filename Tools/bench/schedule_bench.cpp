// Measures the cost and the effect of scheduling: host time of a step with long contexts and of an admission behind
// many prompts, tokens recomputed after preemptions, and on a synthetic shape the time to the first token and the gaps
// between tokens while a long prompt is being read.
// Build: make -C Tools/native schedule_bench
// Usage: schedule_bench host | preempt | serve [shape] [quantize] [prompt] [threads]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/prefix_index.h"
#include "engine/core/engine_core.h"
#include "engine/load/loader.h"
#include "model/batch_check.h"

namespace {

using namespace pagoda;
using Clock = std::chrono::steady_clock;
using Tokens = std::vector<int32_t>;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// CPU time of this process: other load on the machine does not count.
double cpu_us() { return 1e6 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
}

// Does only the host work of a model for a step before its first op.
class EmptyModel : public model::Model {
 public:
  explicit EmptyModel(const EngineLimits& sizes) : sizes_(sizes) {
    config_.vocab_size = 1000;
    layout_.num_recurrent_layers = sizes.num_state_slots > 0 ? 1 : 0;
    layout_.block_size = sizes.block_size;
    tables_.resize(static_cast<size_t>(sizes.max_num_seqs) * static_cast<size_t>(sizes.max_blocks_per_seq));
  }
  Status forward(const model::ForwardBatch& batch) override {
    PAGODA_RETURN_IF_ERROR(model::check_batch(batch, config_, layout_, sizes_));
    for (const model::TableChange& c : batch.table_changes) {
      const size_t offset =
          static_cast<size_t>(c.row) * static_cast<size_t>(sizes_.max_blocks_per_seq) + static_cast<size_t>(c.first);
      std::memcpy(&tables_[offset], &batch.block_tables[offset], static_cast<size_t>(c.count) * sizeof(int32_t));
    }
    picked_.assign(batch.logits_rows.size(), 1);
    return ok_status();
  }
  std::span<const int32_t> picked() const noexcept override { return picked_; }
  std::span<const float> logits() const noexcept override { return {}; }
  Status read_block(int32_t, int32_t, std::span<std::byte>) override { return ok_status(); }
  Status write_block(int32_t, std::span<const std::byte>) override { return ok_status(); }
  Status read_slot(int32_t, std::span<std::byte>) override { return ok_status(); }
  Status write_slot(int32_t, std::span<const std::byte>) override { return ok_status(); }
  Status allocate(const EngineLimits&) override { return ok_status(); }

 private:
  EngineLimits sizes_;
  io::ModelConfig config_;
  cache::CacheLayout layout_;
  std::vector<int32_t> tables_, picked_;
};

struct Answer {
  Clock::time_point submitted, last;
  double first_ms = 0;
  std::vector<double> gaps_ms;
  int num_tokens = 0, num_wanted = 0;
  bool is_done = false;

  static void on_event(void* context, const Event* event) {
    Answer& self = *static_cast<Answer*>(context);
    if (event->kind == EventKind::finished) self.is_done = true;
    if (event->kind != EventKind::token) return;
    if (self.num_tokens++ == 0) self.first_ms = ms_since(self.submitted);
    else self.gaps_ms.push_back(ms_since(self.last));
    self.last = Clock::now();
  }
};

void submit(engine::EngineCore& core, uint64_t id, Tokens prompt, int max_tokens, Answer& answer,
            bool use_cache = false) {
  Request request;
  request.prompt_ids = std::move(prompt);
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  request.sampling.ignore_eos = true;
  request.use_cache = use_cache;
  answer.submitted = Clock::now();
  auto prepared = core.prepare(request, id, &Answer::on_event, &answer);
  if (!prepared.is_ok()) {
    std::fprintf(stderr, "%s\n", prepared.status.message.c_str());
    std::exit(1);
  }
  core.add(std::move(*prepared));
}

// Host time of a decode step in which every row has `context` tokens.
void host_step(int32_t rows, int32_t context) {
  engine::CoreConfig config;
  const int32_t max_tokens = 400 + 6 * rows;  // the first sequences decode while the last are still being read
  config.limits.max_model_len = context + max_tokens;
  config.vocab_size = 1000;
  config.limits.max_blocks_per_seq = (config.limits.max_model_len + 15) / 16;
  config.limits.num_kv_blocks = int64_t{rows} * config.limits.max_blocks_per_seq;
  config.limits.max_num_seqs = config.limits.max_logits_rows = rows;
  config.limits.max_num_tokens = 1 << 16;
  config.step_times.max_decode_seconds = -1;
  EmptyModel model(config.limits);
  engine::EngineCore core(model, config);
  std::vector<Answer> answers(static_cast<size_t>(rows));
  for (size_t i = 0; i < answers.size(); ++i)
    submit(core, i + 1, Tokens(static_cast<size_t>(context), 1), max_tokens, answers[i]);
  while (answers.back().num_tokens < 2 || answers.front().num_tokens < 2) core.step();
  constexpr int kSteps = 100;
  const double start = cpu_us();
  for (int i = 0; i < kSteps; ++i) core.step();
  const double us = (cpu_us() - start) / kSteps;
  if (core.stats().num_running != rows) return void(std::printf("%d rows ended too early\n", rows));
  std::printf("%4d rows at %6d tokens: %.1f us of host time a step\n", rows, context, us);
}

// Time to find a prompt among `count` that share their first block.
void host_admission(int32_t count) {
  cache::BlockManager blocks(2 * int64_t{count} + 2, 16);
  cache::StatePool states(0);
  cache::PrefixIndex index(blocks, states, false, 0);
  std::mt19937_64 rng(1);
  Tokens prompt(32, 7);
  const double start = cpu_us();
  for (int32_t i = 0; i < count; ++i) {
    for (size_t j = 16; j < 32; ++j) prompt[j] = static_cast<int32_t>(rng() % 1000);
    std::vector<int32_t> table;
    if (!blocks.grow(table, 32)) return;
    const std::span<const int32_t> tokens = prompt;
    const int32_t first = index.publish(cache::kNoBlock, "", tokens.first(16), table[0]);
    if (first != table[0]) blocks.replace(table[0], first);
    index.publish(table[0], "", tokens.last(16), table[1]);
    blocks.release(table);
  }
  const double publish_us = (cpu_us() - start) / count;
  int64_t found = 0;
  constexpr int kLookups = 10'000;
  const double begin = cpu_us();
  for (int i = 0; i < kLookups; ++i) {
    prompt[20] = static_cast<int32_t>(rng() % 1000);
    found += index.find("", prompt, 31).num_tokens;
  }
  std::printf("%6d prompts behind one node: %.2f us to publish one, %.2f us to find one (%lld tokens found)\n", count,
              publish_us, (cpu_us() - begin) / kLookups, static_cast<long long>(found));
}

// Ratio of tokens computed to tokens that had to be computed, when the pool can hold `part` of what up to 16 sequences
// need. `ends_early`: every answer might have 600 tokens, and its length is not known in advance.
void preempt(bool has_state, bool use_cache, bool ends_early, double part) {
  constexpr int32_t kRows = 16, kMaxLength = 1200;
  engine::CoreConfig config;
  config.limits.max_model_len = kMaxLength;
  config.vocab_size = 1000;
  config.prefix_cache = use_cache;
  config.limits.num_checkpoints = has_state && use_cache ? 2 * kRows : 0;
  config.limits.max_blocks_per_seq = kMaxLength / 16;
  config.limits.num_kv_blocks = static_cast<int64_t>(part * kRows * kMaxLength / 16);
  config.limits.num_state_slots = has_state ? kRows + config.limits.num_checkpoints : 0;
  config.limits.max_state_saves = config.limits.num_checkpoints;
  config.limits.max_num_seqs = config.limits.max_logits_rows = kRows;
  config.limits.max_num_tokens = 256;
  config.step_times.max_decode_seconds = -1;
  EmptyModel model(config.limits);
  engine::EngineCore core(model, config);
  std::mt19937_64 rng(1);
  std::vector<Answer> answers(400);
  int64_t ideal = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    Tokens prompt(50 + rng() % 550);
    for (int32_t& token : prompt) token = static_cast<int32_t>(rng() % 1000);
    const int num_wanted = static_cast<int>(100 + rng() % 500);
    answers[i].num_wanted = num_wanted;
    ideal += static_cast<int64_t>(prompt.size()) + num_wanted - 1;  // the last token is never computed
    submit(core, i + 1, std::move(prompt), ends_early ? 600 : num_wanted, answers[i], use_cache);
  }
  while (core.has_work()) {
    core.step();
    for (size_t i = 0; i < answers.size(); ++i)
      if (answers[i].num_tokens == answers[i].num_wanted && !answers[i].is_done) core.cancel(i + 1);
  }
  const EngineStats stats = core.stats();
  std::printf("%-9s %-5s %-5s pool of %2.0f %%: %4lld preemptions, computed over ideal %.3f, %lld steps\n",
              has_state ? "hybrid" : "attention", use_cache ? "cache" : "none", ends_early ? "early" : "full",
              100 * part, static_cast<long long>(stats.num_preemptions),
              static_cast<double>(stats.num_computed_tokens) / static_cast<double>(ideal),
              static_cast<long long>(stats.num_steps));
}

struct Bench {
  engine::LoadedModel loaded;
  std::mt19937_64 rng{1};

  Tokens random_tokens(int count) {
    Tokens tokens;
    for (int i = 0; i < count; ++i)
      tokens.push_back(static_cast<int32_t>(100 + rng() % static_cast<uint64_t>(loaded.core.vocab_size - 200)));
    return tokens;
  }
};

// A decoding sequence and then a short request, concurrent with a prompt of `length` tokens; and each of them alone.
void serve(Bench& bench, int length, double max_decode_seconds, const char* name) {
  engine::CoreConfig config = bench.loaded.core;
  config.step_times.max_decode_seconds = max_decode_seconds;
  engine::EngineCore core(*bench.loaded.model, config);
  const auto run = [&](const bool& is_done) {
    while (!is_done) core.step();
  };
  Answer warm, plain, alone_short, alone_long;
  submit(core, 1, bench.random_tokens(300), 4, warm);
  run(warm.is_done);
  submit(core, 2, bench.random_tokens(20), 64, plain);
  run(plain.is_done);
  submit(core, 3, bench.random_tokens(20), 1, alone_short);
  run(alone_short.is_done);
  submit(core, 4, bench.random_tokens(length), 1, alone_long);
  run(alone_long.is_done);

  Answer decoding, with_long, with_short;
  submit(core, 5, bench.random_tokens(20), length - 32, decoding);
  while (decoding.num_tokens < 8) core.step();
  decoding.gaps_ms.clear();
  submit(core, 6, bench.random_tokens(length), 1, with_long);
  for (int i = 0; i < 5; ++i) core.step();
  submit(core, 7, bench.random_tokens(20), 1, with_short);
  run(with_long.is_done);
  const double median = quantile(plain.gaps_ms, 0.5), p90 = quantile(decoding.gaps_ms, 0.9);
  core.cancel(5);
  std::printf("\n%s\nfirst token of 20 tokens: %.0f ms alone, %.0f ms beside a prompt of %d\n", name,
              alone_short.first_ms, with_short.first_ms, length);
  std::printf(
      "gap between tokens: median %.1f ms plain; beside the prompt median %.1f, p90 %.1f (%.2f of plain), max %.1f\n",
      median, quantile(decoding.gaps_ms, 0.5), p90, p90 / median, quantile(decoding.gaps_ms, 1));
  std::printf("reading %d tokens: %.0f ms alone, %.0f ms beside a decode (%+.1f %%)\n", length, alone_long.first_ms,
              with_long.first_ms, 100 * (with_long.first_ms / alone_long.first_ms - 1));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode != "host" && mode != "preempt" && mode != "serve")
    return std::fprintf(stderr, "usage: schedule_bench host | preempt | serve [shape] [quantize] [prompt] [threads]\n"),
           2;
  if (mode == "preempt") {
    for (const bool has_state : {false, true})
      for (const bool use_cache : {false, true})
        for (const bool ends_early : {false, true})
          for (const double part : {0.2, 0.35, 0.5}) preempt(has_state, use_cache, ends_early, part);
    return 0;
  }
  if (mode == "host") {
    for (const int32_t rows : {16, 256}) host_step(rows, rows == 16 || argc > 2 ? 262'144 : 16'384);
    for (const int32_t count : {100, 10'000, 100'000}) host_admission(count);
    return 0;
  }
  ModelSource source;
  source.shape = argc > 2 ? argv[2] : "qwen3.5-0.8b";
  EngineOptions options;
  options.quantize = argc > 3 ? argv[3] : "8bit";
  const int length = argc > 4 ? std::atoi(argv[4]) : 12'000;
  options.num_threads = argc > 5 ? std::atoi(argv[5]) : 0;
  options.max_model_len = length + 16;
  options.max_num_seqs = 4;
  options.prefix_cache = false;
  auto loaded = engine::load(source, options, nullptr);
  if (!loaded.is_ok()) return std::fprintf(stderr, "%s\n", loaded.status.message.c_str()), 1;
  std::printf("%s, %s, %s\n", source.shape.c_str(), loaded->info.weight_dtype.c_str(), loaded->info.device.c_str());
  Bench bench{.loaded = std::move(*loaded)};
  serve(bench, length, -1, "steps as long as they take (--max-step-ms -1)");
  serve(bench, length, 0, "steps within about twice a plain one (the default)");
}
