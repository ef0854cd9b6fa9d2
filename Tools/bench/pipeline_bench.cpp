// Compares a model split into several stages with one rank, each with one thread: the speed of prompts, of concurrent
// decoding, and of both together. Rounds alternate, so that a busy machine slows both. Stages are threads of this
// process, connected over TCP. While decoding, n stages are at most n times as fast as one rank with an nth of the
// sequences, because each stage then reads its weights n times as often. Build: make -C Tools/native pipeline_bench
// Usage: pipeline_bench [shape] [sequences] [tokens] [stages] [rounds] [prompt tokens]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/load/loader.h"
#include "pipeline/stage.h"
#include "pipeline/tcp.h"

namespace {

using namespace pagoda;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr int kShortPrompt = 16;  // tokens

struct Times {
  double seconds;      // from the first request to the last token
  double decode_rate;  // tokens per second once all sequences decode
};

std::string device_name() {
  const char* name = std::getenv("PAGODA_BENCH_DEVICE");
  return name ? name : "cpu";
}

class StageThread {
 public:
  explicit StageThread(const ModelSource& source) {
    auto listener = pipeline::TcpListener::open("127.0.0.1:0");
    auto stage = pipeline::Stage::open({.source = source, .device = device_name(), .num_threads = 1, .log = nullptr});
    if (!listener.is_ok() || !stage.is_ok()) {
      std::fprintf(stderr, "%s%s\n", listener.status.message.c_str(), stage.status.message.c_str());
      std::exit(1);
    }
    address_ = "127.0.0.1:" + std::to_string((*listener)->port());
    thread_ = std::thread([this, listener = std::move(*listener), stage = std::move(*stage)] {
      while (!stop_)
        if (auto channel = listener->accept(50); channel.is_ok()) (void)stage->serve(std::move(*channel), stop_);
    });
  }
  ~StageThread() {
    stop_ = true;
    thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  std::string address_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

struct Engine {
  engine::LoadedModel loaded;
  std::unique_ptr<engine::EngineCore> core;
  uint64_t next_id = 1;

  Engine(const ModelSource& source, const EngineOptions& options) {
    Result<engine::LoadedModel> result = engine::load(source, options, nullptr);
    if (!result.is_ok()) {
      std::fprintf(stderr, "%s\n", result.status.message.c_str());
      std::exit(1);
    }
    loaded = std::move(*result);
    core = std::make_unique<engine::EngineCore>(*loaded.model, loaded.core);
    if (!loaded.info.pipeline.empty()) std::printf("%s\n", loaded.info.pipeline.c_str());
  }

  // Times requests of equal length, all sent at once.
  Times run(int num_sequences, int num_prompt_tokens, int num_tokens) {
    const auto begin = Clock::now();
    for (int i = 0; i < num_sequences; ++i) {
      Request request;
      for (int t = 0; t < num_prompt_tokens; ++t) request.prompt_ids.push_back(100 + (37 * i + t) % 1000);
      request.sampling.max_tokens = num_tokens;
      request.sampling.ignore_eos = true;
      request.use_cache = false;
      auto active = core->prepare(request, next_id++, [](void*, const Event*) {}, nullptr);
      if (active.is_ok()) core->add(std::move(*active));
    }
    const int64_t before = core->stats().num_generated_tokens;
    while (core->has_work() && core->stats().num_generated_tokens < before + num_sequences) core->step();
    const int64_t first = core->stats().num_generated_tokens;
    const auto decode_begin = Clock::now();
    while (core->has_work()) core->step();
    const double decode_seconds = seconds_since(decode_begin);
    return {seconds_since(begin), static_cast<double>(core->stats().num_generated_tokens - first) / decode_seconds};
  }
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int fallback) { return argc > index ? std::atoi(argv[index]) : fallback; };
  ModelSource source;
  source.shape = argc > 1 ? argv[1] : "qwen3.5-0.8b";
  const int num_sequences = number(2, 8), num_tokens = number(3, 32), num_stages = number(4, 2), rounds = number(5, 5);
  const int num_prompt_tokens = number(6, 512);
  EngineOptions options;
  options.device = device_name();
  options.num_threads = 1;
  options.max_num_seqs = num_sequences;
  options.max_model_len = std::max(1024, num_prompt_tokens + num_tokens);
  options.speculation = "off";
  if (const char* form = std::getenv("PAGODA_BENCH_QUANTIZE")) options.quantize = form;
  Engine one(source, options);
  std::vector<std::unique_ptr<StageThread>> stages;
  for (int i = 1; i < num_stages; ++i) {
    stages.push_back(std::make_unique<StageThread>(source));
    options.pipeline += (i > 1 ? "," : "") + stages.back()->address();
  }
  if (const char* split = std::getenv("PAGODA_BENCH_SPLIT")) options.pipeline_split = split;
  {
    Engine many(source, options);
    std::vector<double> prompts, decodes, wholes, bounds;
    for (int round = 0; round < rounds; ++round) {
      prompts.push_back(one.run(num_sequences, num_prompt_tokens, 1).seconds /
                        many.run(num_sequences, num_prompt_tokens, 1).seconds);
      const Times alone = one.run(num_sequences, num_prompt_tokens, num_tokens);
      const Times spread = many.run(num_sequences, num_prompt_tokens, num_tokens);
      wholes.push_back(alone.seconds / spread.seconds);
      // Short prompts: sequences that decode while other prompts are still being read would distort the rate.
      const double rate = one.run(num_sequences, kShortPrompt, num_tokens).decode_rate;
      const double most = one.run(std::max(1, num_sequences / num_stages), kShortPrompt, num_tokens).decode_rate;
      decodes.push_back(many.run(num_sequences, kShortPrompt, num_tokens).decode_rate / rate);
      bounds.push_back(num_stages * most / rate);
      std::printf(
          "one rank %.1f s, %d stages %.1f s, %.2f times; prompts alone %.2f; decoding alone %.2f of at most %.2f\n",
          alone.seconds, num_stages, spread.seconds, wholes.back(), prompts.back(), decodes.back(), bounds.back());
    }
    std::printf(
        "%s, %d sequences, prompts of %d tokens, answers of %d, one thread a rank: median %.2f times one rank; "
        "prompts alone %.2f; decoding alone %.2f of at most %.2f\n",
        source.shape.c_str(), num_sequences, num_prompt_tokens, num_tokens, median(wholes), median(prompts),
        median(decodes), median(bounds));
  }
  return 0;
}
