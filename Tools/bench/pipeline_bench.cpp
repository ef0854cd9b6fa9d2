// Measures one model over several stages against one rank, each with one thread: tokens per second of some sequences
// that decode at once. Rounds alternate, so that a busy machine slows both. Stages are threads of this process, reached
// over TCP. The most that n stages can give is n times what one rank makes of an nth of the sequences, for each stage
// then reads its weights n times as often. Build: make -C Tools/native pipeline_bench    Usage: pipeline_bench [shape]
// [sequences] [tokens] [stages] [rounds]
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

  // Tokens per second from when all sequences decode.
  double run(int num_sequences, int num_tokens) {
    for (int i = 0; i < num_sequences; ++i) {
      Request request;
      for (int t = 0; t < 16; ++t) request.prompt_ids.push_back(100 + 37 * i + t);
      request.sampling.max_tokens = num_tokens;
      request.sampling.ignore_eos = true;
      request.use_cache = false;
      auto active = core->prepare(request, next_id++, [](void*, const Event*) {}, nullptr);
      if (active.is_ok()) core->add(std::move(*active));
    }
    const int64_t before = core->stats().num_generated_tokens;
    while (core->has_work() && core->stats().num_generated_tokens < before + num_sequences) core->step();
    const int64_t first = core->stats().num_generated_tokens;
    const auto begin = std::chrono::steady_clock::now();
    while (core->has_work()) core->step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return static_cast<double>(core->stats().num_generated_tokens - first) / seconds;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int fallback) { return argc > index ? std::atoi(argv[index]) : fallback; };
  ModelSource source;
  source.shape = argc > 1 ? argv[1] : "qwen3.5-0.8b";
  const int num_sequences = number(2, 8), num_tokens = number(3, 32), num_stages = number(4, 2), rounds = number(5, 5);
  EngineOptions options;
  options.device = device_name();
  options.num_threads = 1;
  options.max_num_seqs = num_sequences;
  options.max_model_len = 1024;
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
    std::vector<double> ratios, bounds;
    for (int round = 0; round < rounds; ++round) {
      const double alone = one.run(num_sequences, num_tokens), spread = many.run(num_sequences, num_tokens);
      const double most = num_stages * one.run(std::max(1, num_sequences / num_stages), num_tokens);
      ratios.push_back(spread / alone);
      bounds.push_back(most / alone);
      std::printf("one rank %.1f tokens/s, %d stages %.1f tokens/s, %.2f times of at most %.2f\n", alone, num_stages,
                  spread, ratios.back(), bounds.back());
    }
    std::ranges::sort(ratios);
    std::ranges::sort(bounds);
    std::printf("%s, %d sequences, one thread a rank: median %.2f times one rank, of at most %.2f\n",
                source.shape.c_str(), num_sequences, ratios[ratios.size() / 2], bounds[bounds.size() / 2]);
  }
  return 0;
}
