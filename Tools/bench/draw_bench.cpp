// Measures how long a GPU takes to sample rows of 248,320 logits by what their requests ask for, beside the argmax: the
// median of the device's own time, and how many rows it leaves to the sampler. The logits are those of random weights;
// a realistic temperature makes them as unequal as a trained model's (the most likely one 6 above the 20th).
// Build: make -C Tools/native draw_bench
// Usage: draw_bench [DEVICE [ROWS [ROUNDS [kernels]]]]: also the time of each kernel, one launch at a time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/registry.h"
#include "device/support.h"
#include "ops/ops.h"
#include "sampler/draw_lists.h"

namespace {

using namespace pagoda;
using device::Tensor;

constexpr int64_t kVocab = 248320;  // of Qwen3.5
constexpr int kWarmUps = 3;

[[noreturn]] void stop(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}
void check(const Status& status) {
  if (!status.is_ok()) stop(status);
}

struct Kind {
  const char* name;
  bool is_realistic = false;
  SamplingParams params = {};
  int num_counted = 0;    // tokens with a penalty
  int allowed_share = 0;  // of a mask, per cent; 0: there is none
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](const char* name, const auto& change, bool is_realistic = false) {
    all.push_back({name, is_realistic});
    all.back().params.temperature = 1.0f;
    change(all.back());
  };
  add("argmax", [](Kind& k) { k.params.temperature = 0; });
  add("presence 1.5, top-k 20, top-p 0.95", [](Kind& k) {
    k.params.presence_penalty = 1.5f, k.params.top_k = 20, k.params.top_p = 0.95f;
    k.num_counted = 200;
  });
  add("mask of 90 %, top-k 20", [](Kind& k) { k.params.top_k = 20, k.allowed_share = 90; });
  add("20 log probabilities", [](Kind& k) { k.params.temperature = 0, k.params.num_top_logprobs = 20; });
  add("temperature 1", [](Kind&) {});
  for (const bool is_realistic : {true, false}) {
    add("top-p 0.95", [](Kind& k) { k.params.top_p = 0.95f; }, is_realistic);
    add("min-p 0.05", [](Kind& k) { k.params.min_p = 0.05f; }, is_realistic);
    add(
        "presence 1.5, mask, 20 log probabilities, top-p 0.95, min-p 0.01",
        [](Kind& k) {
          k.params.presence_penalty = 1.5f, k.params.top_p = 0.95f, k.params.min_p = 0.01f;
          k.params.num_top_logprobs = 20, k.num_counted = 200, k.allowed_share = 90;
        },
        is_realistic);
  }
  return all;
}

class DrawBench {
 public:
  DrawBench(const std::string& name, int64_t rows, int rounds)
      : rows_(rows), rounds_(rounds), lists_(static_cast<int32_t>(kVocab), static_cast<int32_t>(rows)) {
    auto made = device::make_device(name, 2);
    if (!made.is_ok()) stop(made.status);
    device_ = std::move(*made);
    check(device_->reserve({.tokens = 4, .cols = 64, .logits_rows = rows, .vocab = kVocab}));
    std::normal_distribution<float> normal(0, 0.64f);
    logits_.resize(static_cast<size_t>(rows * kVocab));
    for (float& logit : logits_) logit = normal(random_);
    logits_on_device_ = put(logits_, DType::f32, {rows, kVocab});
    std::vector<float> first(logits_.begin(), logits_.begin() + kVocab);
    std::partial_sort(first.begin(), first.begin() + 20, first.end(), std::greater<>());
    realistic_ = (first[0] - first[19]) / 6;
    counts_.output.assign(kVocab, 0);
    counts_.is_listed = true;
    lists_.reserve(edits_, masks_);
  }

  void run(const Kind& kind, bool by_kernel) {
    const std::vector<Draw> draws = draws_of(kind);
    const Tensor tokens = zeros(DType::i32, {rows_}), scores = zeros(DType::i64, {rows_, 22});
    const Tensor on_device = put(draws, DType::i64, {rows_, 7});
    const auto width = static_cast<int64_t>(mask_words(kVocab)) * 2;
    const device::SampleArgs args{
        .logits = logits_on_device_,
        .draws = on_device,
        .edits = edits_.empty() ? Tensor{} : put(edits_, DType::i32, {static_cast<int64_t>(edits_.size()), 4}),
        .masks = masks_.empty() ? Tensor{}
                                : put(masks_, DType::i32, {static_cast<int64_t>(masks_.size()) * 2 / width, width}),
        .tokens = tokens,
        .scores = draws[0].num_logprobs > 0 ? scores : Tensor{},
        .has_whole = draws[0].is_whole > 0,
        .has_nucleus = draws[0].has_nucleus()};
    const bool is_argmax = draws[0].is_argmax();
    const auto encode = [&]() -> Status {
      return is_argmax ? ops::argmax(device_->encoder(), {.logits = logits_on_device_, .tokens = tokens})
                       : ops::sample(device_->encoder(), args);
    };
    const double us = 1e6 * median_seconds(encode);
    std::vector<int32_t> got(static_cast<size_t>(rows_));
    check(device_->download(tokens, got.data(), got.size() * sizeof(int32_t)));
    std::printf("| %-64s | %-9s | %7.1f us | %lld of %lld left to the sampler\n", kind.name,
                kind.is_realistic ? "realistic" : "1", us, static_cast<long long>(std::ranges::count(got, -1)),
                static_cast<long long>(rows_));
    if (by_kernel) print_kernels(encode);
    buffers_.resize(1);
  }

 private:
  std::vector<Draw> draws_of(const Kind& kind) {
    SamplingParams params = kind.params;
    if (kind.is_realistic) params.temperature = realistic_;
    std::ranges::fill(counts_.output, 0u);
    counts_.ids.clear();
    for (int i = 0; i < kind.num_counted; ++i) counts_.note_output(static_cast<int32_t>(random_() % kVocab));
    std::vector<uint64_t> allowed(kind.allowed_share > 0 ? static_cast<size_t>(mask_words(kVocab)) : 0);
    for (size_t id = 0; id < allowed.size() * 64; ++id)
      if (random_() % 100 < static_cast<uint64_t>(kind.allowed_share)) allowed[id / 64] |= uint64_t{1} << (id % 64);
    edits_.clear(), masks_.clear();
    std::vector<Draw> draws;
    for (int64_t row = 0; row < rows_; ++row) {
      sampler::SampleInput input{.logits = std::span(logits_).subspan(static_cast<size_t>(row * kVocab), kVocab),
                                 .params = &params,
                                 .counts = kind.num_counted > 0 ? &counts_ : nullptr,
                                 .history = {},
                                 .allowed = allowed,
                                 .banned = {},
                                 .seed = 7,
                                 .token_index = static_cast<uint64_t>(row)};
      Draw draw = sampler::draw_of(input, 64);
      if (sampler::changes_logits(input) && !lists_.add(input, {}, draw, edits_, masks_))
        stop(make_error(StatusCode::internal, "no room for the changes of logits"));
      draws.push_back(draw);
    }
    return draws;
  }

  template <class Encode>
  double median_seconds(const Encode& encode) {
    std::vector<double> times;
    device_->set_profiling(true);
    for (int round = 0; round < rounds_ + kWarmUps; ++round) {
      check(encode());
      check(device_->encoder().submit().wait());
      const auto profile = device_->take_profile();
      if (profile.empty() || profile.back().name != "step")
        stop(make_error(StatusCode::unsupported, device_->info().name + " does not time its steps"));
      if (round >= kWarmUps) times.push_back(profile.back().seconds);
    }
    device_->set_profiling(false);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  template <class Encode>
  void print_kernels(const Encode& encode) {
    device_->set_profiling(true);
    device::set_kernel_timing(*device_, true);
    for (int round = 0; round < rounds_; ++round) {
      check(encode());
      check(device_->encoder().submit().wait());
    }
    for (const OpTime& time : device_->take_profile())
      std::printf("    %-16s %7.1f us\n", time.name.c_str(), 1e6 * time.seconds / static_cast<double>(time.calls));
    device::set_kernel_timing(*device_, false);
    device_->set_profiling(false);
  }

  Tensor zeros(DType dtype, std::initializer_list<int64_t> shape) {
    const auto count = device::dense(nullptr, dtype, shape).num_elements();
    auto made = device_->allocate(static_cast<size_t>(count) * dtype_bytes(dtype), "bench");
    check(made.status);
    buffers_.push_back(std::move(*made));
    return device::dense(buffers_.back().get(), dtype, shape);
  }
  template <class T>
  Tensor put(const std::vector<T>& values, DType dtype, std::initializer_list<int64_t> shape) {
    const Tensor t = zeros(dtype, shape);
    check(device_->upload(t, values.data(), values.size() * sizeof(T)));
    return t;
  }

  int64_t rows_;
  int rounds_;
  std::unique_ptr<device::Device> device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;  // of the logits, then those of a kind
  std::mt19937_64 random_{1};
  std::vector<float> logits_;
  Tensor logits_on_device_;
  float realistic_ = 1;
  sampler::TokenCounts counts_;
  sampler::DrawLists lists_;
  std::vector<LogitEdit> edits_;
  std::vector<uint64_t> masks_;
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  DrawBench bench(argc > 1 ? argv[1] : "cuda", argc > 2 ? std::atoi(argv[2]) : 32, argc > 3 ? std::atoi(argv[3]) : 15);
  for (const Kind& kind : kinds()) bench.run(kind, argc > 4);
}
