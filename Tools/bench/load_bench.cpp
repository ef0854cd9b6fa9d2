// Measures how long a model takes from its file to the first token, and its speed after that: the same file as
// llama-bench reads. Build: make -C Tools/native load_bench
// Usage: load_bench MODEL [DEVICE [THREADS [QUANTIZE [CACHE]]]]
// MODEL is a folder or a GGUF file; with CACHE, a folder, matrices are kept there for the next load.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "engine/load/loader.h"

namespace {

using namespace pagoda;
using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 3, kPrompt = 512, kAnswer = 128;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class Value>
Value or_exit(Result<Value> result) {
  if (result.is_ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status.message.c_str());
  std::exit(1);
}

struct Answer {
  Clock::time_point start;
  std::vector<double> seconds;  // of tokens, since the start
  bool is_done = false;

  static void on_event(void* context, const Event* event) {
    auto& self = *static_cast<Answer*>(context);
    if (event->kind == EventKind::token) self.seconds.push_back(seconds_since(self.start));
    if (event->kind == EventKind::finished) self.is_done = true;
  }
};

// Each prompt differs from those before it in its first token, so that no prefix is cached.
Answer answer(engine::EngineCore& core, int prompt, int tokens) {
  static uint64_t id = 0;
  Answer made;
  Request request;
  for (int i = 0; i < prompt; ++i)
    request.prompt_ids.push_back(i == 0 ? static_cast<int32_t>(++id) : 100 + i * 7 % 900);
  request.sampling.max_tokens = tokens;
  request.sampling.temperature = 0;
  request.sampling.ignore_eos = true;
  made.start = Clock::now();
  core.add(or_exit(core.prepare(request, id, &Answer::on_event, &made)));
  while (!made.is_done) core.step();
  return made;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc < 2) return std::fprintf(stderr, "usage: load_bench MODEL [DEVICE [THREADS [QUANTIZE [CACHE]]]]\n"), 1;
  EngineOptions options;
  if (argc > 2) options.device = argv[2];
  if (argc > 3) options.num_threads = std::atoi(argv[3]);
  if (argc > 4) options.quantize = argv[4];
  options.keep_weights = argc > 5;
  if (argc > 5) options.weight_cache = argv[5];
  options.max_num_seqs = 1;
  options.max_model_len = 1024;
  options.speculation = "off";
  const Clock::time_point start = Clock::now();
  double matrices_begin = 0, matrices_end = 0;  // seconds
  const model::LoadProgress progress = [&](int64_t, int64_t) {
    matrices_end = seconds_since(start);
    if (matrices_begin == 0) matrices_begin = matrices_end;
    return true;
  };
  const auto loaded = or_exit(engine::load({argv[1], {}}, options, progress));
  const double load = seconds_since(start);
  engine::EngineCore core(*loaded.model, loaded.core);
  const Answer first = answer(core, 16, 2);
  const double bytes = static_cast<double>(loaded.info.layer_matrices.size_bytes + loaded.info.head_matrix.size_bytes);
  std::printf("%s, %s, %.2f GB read per token\n%s\n", loaded.device->info().description.c_str(),
              loaded.info.weight_dtype.c_str(), bytes / 1e9, loaded.info.weight_cache_note.c_str());
  std::printf("first matrix after %.2f s, the last after %.2f, loaded after %.2f, first token after %.2f s\n",
              matrices_begin, matrices_end, load, load + first.seconds.front());
  std::printf("the next first token takes %.3f s\n", answer(core, 16, 2).seconds.front());
  std::vector<double> prompts, decodes;
  for (int i = 0; i < kRepetitions; ++i) {
    prompts.push_back(kPrompt / answer(core, kPrompt, 1).seconds.front());
    const Answer made = answer(core, 16, kAnswer);
    decodes.push_back((kAnswer - 1) / (made.seconds.back() - made.seconds.front()));
  }
  std::printf("pp%d %.1f tokens/s, tg%d %.2f tokens/s (%.1f GB/s), medians of %d\n", kPrompt, median(prompts), kAnswer,
              median(decodes), median(decodes) * bytes / 1e9, kRepetitions);
}
