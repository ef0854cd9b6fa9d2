// Measures what requests that read their prefixes from host memory, and leave new ones there when they end, cost an
// answer beside them: states as large as those of Qwen3.5-27B, copied to and from the device's real memory, beside
// steps that only take their time. Build: make -C Tools/native reads_bench     Usage: reads_bench [device [requests
// [step_ms]]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/registry.h"
#include "device/uploads.h"
#include "engine/core/engine_core.h"

namespace {

using namespace pagoda;
using Clock = std::chrono::steady_clock;
using Tokens = std::vector<int32_t>;

constexpr int32_t kBlock = 16, kVocab = 1000;
constexpr int64_t kStateLayers = 48, kKvLayers = 16;
constexpr size_t kLayerState = 4'090'000, kLayerBlock = size_t{kBlock} * 4 * 256 * 2 * 2;  // bytes
constexpr size_t kStateBytes = kStateLayers * kLayerState, kBlockBytes = kKvLayers * kLayerBlock;
constexpr int32_t kPrompt = 512;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class Value>
Value or_exit(Result<Value> result) {
  if (result.is_ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status.message.c_str());
  std::exit(1);
}

// One buffer per layer, as a model's pools.
class Layers {
 public:
  Layers(device::Device& device, int64_t num_layers, size_t unit_bytes, int64_t num_units)
      : device_(device), unit_bytes_(unit_bytes) {
    for (int64_t i = 0; i < num_layers; ++i)
      buffers_.push_back(or_exit(device.allocate(unit_bytes * static_cast<size_t>(num_units), "a layer")));
  }
  Status write_together(int32_t unit, std::span<const std::byte> from) {
    std::vector<device::Upload> uploads;
    for (size_t i = 0; i < buffers_.size(); ++i)
      uploads.push_back(
          {buffers_[i].get(), unit * static_cast<int64_t>(unit_bytes_), from.data() + i * unit_bytes_, unit_bytes_});
    return device::upload_beside(device_, uploads);
  }
  Status read_together(int32_t unit, std::span<std::byte> to) {
    std::vector<device::Download> downloads;
    for (size_t i = 0; i < buffers_.size(); ++i)
      downloads.push_back(
          {buffers_[i].get(), unit * static_cast<int64_t>(unit_bytes_), to.data() + i * unit_bytes_, unit_bytes_});
    return device::download_beside(device_, downloads);
  }
  Status write_one_by_one(int32_t unit, std::span<const std::byte> from) {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const auto count = static_cast<int64_t>(unit_bytes_);
      const device::Tensor to = device::dense(buffers_[i].get(), DType::i8, {count}, unit * count);
      PAGODA_RETURN_IF_ERROR(device_.upload(to, from.data() + i * unit_bytes_, unit_bytes_));
    }
    return ok_status();
  }

 private:
  device::Device& device_;
  size_t unit_bytes_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
};

class TimedModel final : public model::Model {
 public:
  TimedModel(device::Device& device, const EngineLimits& limits, double step_ms)
      : states(device, kStateLayers, kLayerState, limits.num_state_slots),
        blocks(device, kKvLayers, kLayerBlock, limits.num_kv_blocks),
        step_ms_(step_ms) {}
  Status allocate(const EngineLimits&) override { return ok_status(); }
  Status forward(const model::ForwardBatch& batch) override {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(step_ms_));
    picked_.assign(batch.logits_rows.size(), 1);
    return ok_status();
  }
  std::span<const int32_t> picked() const noexcept override { return picked_; }
  std::span<const float> logits() const noexcept override { return {}; }
  Status read_block(int32_t block, int32_t, std::span<std::byte> to) override {
    return blocks.read_together(block, to);
  }
  Status write_block(int32_t block, std::span<const std::byte> from) override {
    return blocks.write_together(block, from);
  }
  Status read_slot(int32_t slot, std::span<std::byte> to) override { return states.read_together(slot, to); }
  Status write_slot(int32_t slot, std::span<const std::byte> from) override {
    return states.write_together(slot, from);
  }

  Layers states, blocks;

 private:
  double step_ms_;
  std::vector<int32_t> picked_;
};

struct Answer {
  Clock::time_point submitted;
  std::vector<double> times_ms;  // of tokens, since then
  int num_cached = -1;           // set at the end

  bool is_done() const { return num_cached >= 0; }
  std::vector<double> gaps_ms(size_t first, size_t end) const {
    std::vector<double> gaps;
    for (size_t i = first + 1; i < end; ++i) gaps.push_back(times_ms[i] - times_ms[i - 1]);
    return gaps;
  }
  static void on_event(void* context, const Event* event) {
    auto& self = *static_cast<Answer*>(context);
    if (event->kind == EventKind::token) self.times_ms.push_back(ms_since(self.submitted));
    if (event->kind == EventKind::finished) self.num_cached = event->usage.cached_tokens;
  }
};

void submit(engine::EngineCore& core, uint64_t id, const Tokens& prompt, int max_tokens, Answer& answer) {
  Request request;
  request.prompt_ids = prompt;
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  request.sampling.ignore_eos = true;
  answer.submitted = Clock::now();
  core.add(or_exit(core.prepare(request, id, &Answer::on_event, &answer)));
}

Tokens random_tokens(uint64_t seed, int count) {
  std::mt19937_64 rng(seed);
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(rng() % kVocab));
  return tokens;
}

void keep(engine::HostStore& store, const Tokens& prompt) {
  Tokens tokens(prompt.begin(), prompt.end() - 8);
  auto head = store.plan("", tokens);
  if (!head) std::exit(1);
  std::vector<std::byte> blocks(static_cast<size_t>(head->num_blocks()) * kBlockBytes), state(kStateBytes);
  store.write(std::make_shared<engine::PrefixStore::Content>(
      engine::PrefixStore::Content{std::move(*head), std::move(tokens), std::move(blocks), std::move(state)}));
}

void print_gaps(const char* name, std::vector<double> gaps) {
  if (gaps.empty()) return void(std::printf("%s: no tokens\n", name));
  std::sort(gaps.begin(), gaps.end());
  const auto at = [&](double part) {
    return gaps[std::min(gaps.size() - 1, static_cast<size_t>(part * static_cast<double>(gaps.size())))];
  };
  std::printf("%s: %zu tokens, median gap %.1f ms, p99 %.1f, longest %.1f\n", name, gaps.size(), at(0.5), at(0.99),
              gaps.back());
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string name = argc > 1 ? argv[1] : "cpu";
  const int32_t count = argc > 2 ? std::atoi(argv[2]) : 32;
  const double step_ms = argc > 3 ? std::atof(argv[3]) : 20;
  engine::CoreConfig config;
  EngineLimits& limits = config.limits;
  limits.block_size = kBlock;
  limits.max_num_seqs = limits.max_logits_rows = count + 1;
  limits.num_checkpoints = limits.max_state_saves = count + 1;
  limits.num_state_slots = limits.max_num_seqs + limits.num_checkpoints;
  limits.max_blocks_per_seq = 2 * kPrompt / kBlock;
  limits.num_kv_blocks = int64_t{count + 2} * (kPrompt / kBlock + 8);
  limits.max_num_tokens = 2048;
  limits.max_model_len = 2 * kPrompt;
  config.vocab_size = kVocab;
  config.state_slot_bytes = kStateBytes;
  config.step_times.max_decode_seconds = -1;
  config.host = std::make_shared<engine::HostStore>(engine::PrefixLayout{"bench", kBlock, kBlockBytes, kStateBytes},
                                                    int64_t{1} << 40);
  const auto device = or_exit(device::make_device(name, 0, {}));
  TimedModel model(*device, limits, step_ms);
  std::printf("%s; states of %.1f MB, prompts of %d tokens with %.1f MB of keys and values\n",
              device->info().name.c_str(), kStateBytes / 1e6, kPrompt, kPrompt / kBlock * kBlockBytes / 1e6);

  const std::vector<std::byte> state(kStateBytes);
  for (const bool is_together : {false, true, false, true}) {
    const Clock::time_point start = Clock::now();
    const Status status = is_together ? model.states.write_together(1, state) : model.states.write_one_by_one(1, state);
    if (!status.is_ok()) return std::fprintf(stderr, "%s\n", status.message.c_str()), 1;
    std::printf("one state %s: %.1f ms\n", is_together ? "together" : "layer by layer", ms_since(start));
  }

  std::vector<Tokens> prompts;
  for (int32_t i = 0; i < count; ++i) keep(*config.host, prompts.emplace_back(random_tokens(1000 + i, kPrompt)));
  engine::EngineCore core(model, config);
  Answer decoder;
  submit(core, 1, random_tokens(1, 64), 900, decoder);
  constexpr size_t kAlone = 50;
  while (decoder.times_ms.size() < kAlone) core.step();
  print_gaps("alone", decoder.gaps_ms(0, kAlone));
  std::vector<Answer> readers(static_cast<size_t>(count));
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < readers.size(); ++i) submit(core, 2 + i, prompts[i], 2, readers[i]);
  while (!std::ranges::all_of(readers, &Answer::is_done)) core.step();
  const double all_ms = ms_since(start);
  print_gaps("beside the reads", decoder.gaps_ms(kAlone - 1, decoder.times_ms.size()));
  std::vector<double> firsts;
  int64_t cached = 0;
  for (const Answer& answer : readers) firsts.push_back(answer.times_ms.front()), cached += answer.num_cached;
  std::ranges::sort(firsts);
  std::printf(
      "%d requests: first token after %.0f ms (median), %.0f ms (the last); all ended after %.0f ms; %lld of %lld "
      "tokens read\n",
      count, firsts[firsts.size() / 2], firsts.back(), all_ms, static_cast<long long>(cached),
      static_cast<long long>(count) * kPrompt);
  core.end_all(FinishReason::cancelled, ok_status());
}
