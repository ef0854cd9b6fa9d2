// sample draws what the sampler draws.
#include <cmath>
#include <random>

#include "args/sample.h"
#include "device/gpu/software/software_backend.h"
#include "sampler/sampler.h"
#include "support/test.h"

namespace pagoda::device::gpu {
namespace {

constexpr uint32_t kRows = 6, kVocab = 701;

// Rows of logits with ties among them, every other row with many.
std::vector<float> random_logits(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(kRows * kVocab);
  for (size_t i = 0; i < logits.size(); ++i) {
    const float steps = i / kVocab % 2 == 0 ? 8 : 1;  // in 1
    logits[i] = std::round(normal(random) * steps) / steps;
  }
  return logits;
}

std::vector<int32_t> run(const char* kernel, const std::vector<float>& logits,
                         const std::vector<pagoda_args::SampleRow>& rows) {
  std::vector<int32_t> tokens(kRows, -1);
  auto backend = software::SoftwareBackend::create({.num_threads = 2});
  CHECK_OK(backend);
  const auto put = [&](const void* from, size_t size_bytes) {
    auto buffer = (*backend)->allocate(size_bytes, "test");
    CHECK_OK(buffer);
    CHECK_OK((*backend)->upload(**buffer, 0, from, size_bytes));
    return std::move(*buffer);
  };
  const auto from = put(logits.data(), logits.size() * sizeof(float)), to = put(tokens.data(), kRows * sizeof(int32_t));
  const auto params = put(rows.data(), rows.size() * sizeof(pagoda_args::SampleRow));
  const pagoda_args::Sample args{kVocab, kVocab, 0};
  const Binding bindings[] = {{.index = 0, .buffer = from.get()},
                              {.index = 1, .buffer = params.get()},
                              {.index = 2, .buffer = to.get()},
                              {.index = 3, .values = &args, .size_bytes = sizeof args}};
  auto pipeline = (*backend)->pipeline(kernel, {});
  CHECK_OK(pipeline);
  if (!pipeline.is_ok()) return tokens;
  (*backend)->launch(**pipeline, {kRows, 1, 1}, {256, 1, 1}, bindings);
  CHECK_OK((*backend)->submit().wait());
  CHECK_OK((*backend)->download(*to, 0, tokens.data(), kRows * sizeof(int32_t)));
  return tokens;
}

int32_t picked(const std::vector<float>& logits, uint32_t row, const SamplingParams& params, uint64_t seed) {
  sampler::Sampler sampler(kVocab);
  sampler::SampleInput input;
  input.logits = std::span(logits).subspan(row * kVocab, kVocab);
  input.params = &params;
  input.seed = seed;
  input.token_index = row;
  sampler::SampleOutput output;
  CHECK_OK(sampler.sample(input, output));
  return output.token_id;
}

}  // namespace

PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws) {
  const struct {
    float temperature, top_p, min_p;
    int32_t top_k;
  } cases[] = {{20, 0.7f, 0, 44},   {1, 1, 0, 0},         {0.7f, 0.8f, 0, 20}, {1, 0.95f, 0, 0},
               {1.5f, 1, 0.05f, 0}, {1, 0.5f, 0.01f, 50}, {1, 1, 0, 1},        {20, 0.02f, 0, 0}};
  const uint64_t first = test::seed(72);
  const std::vector<float> logits = random_logits(first);
  uint32_t all = 0;
  for (const auto& c : cases) {
    SamplingParams params;
    params.temperature = c.temperature;
    params.top_p = c.top_p;
    params.min_p = c.min_p;
    params.top_k = c.top_k;
    const uint64_t seed = first * 0x9e3779b97f4a7c15u + all;
    std::vector<pagoda_args::SampleRow> rows;
    for (uint32_t row = 0; row < kRows; ++row)
      rows.push_back({c.temperature, c.top_p, c.min_p, static_cast<uint32_t>(c.top_k), static_cast<uint32_t>(seed),
                      static_cast<uint32_t>(seed >> 32), row, 0});
    const std::vector<int32_t> tokens = run("sample", logits, rows);
    // Float sums against double: only a draw within 1e-6 of an edge may fall to its neighbour.
    for (uint32_t row = 0; row < kRows; ++row, ++all) CHECK_EQ(tokens[row], picked(logits, row, params, seed));
  }
}

// Sums that rounding leaves below the target of a draw.
PAGODA_TEST(gpu_sample_takes_the_last_token_where_no_sum_passes_the_target) {
  constexpr uint32_t kSeed = 16390493;  // its first draw is the greatest there is, 1 - 2^-24
  const std::vector<float> logits = random_logits(test::seed(73));
  const std::vector<pagoda_args::SampleRow> rows(kRows, {1, 1, 0, 0, kSeed, 0, 0, 0});
  const std::vector<int32_t> tokens = run("sample", logits, rows);
  for (const int32_t token : tokens) CHECK(token > static_cast<int32_t>(kVocab) - 30);
}

}  // namespace pagoda::device::gpu
