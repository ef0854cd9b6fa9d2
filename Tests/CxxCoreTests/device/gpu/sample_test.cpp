// sample on every device that has it: the token that the sampler draws, and -1 where it refuses the row.
#include <algorithm>
#include <cstring>

#include "device/gpu/logits_rows.h"
#include "ops/sample.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

constexpr int64_t kPadding = 3;  // between rows

SamplingParams random_params(Random& random) {
  const auto one_in = [&](int64_t n) { return random.below(n) == 0; };
  SamplingParams params;
  params.temperature = one_in(8) ? 0.0f : one_in(4) ? 20.0f : 0.3f + static_cast<float>(random.below(100)) / 60;
  params.top_k = static_cast<int32_t>(one_in(4) ? 64 : 1 + random.below(64));
  params.top_p = one_in(3) ? 1.0f : static_cast<float>(1 + random.below(999)) / 1000;
  params.min_p = one_in(2) ? 0.0f : static_cast<float>(random.below(100)) / 400;
  return params;
}

struct Rows {
  std::vector<float> logits;  // [R, vocab + kPadding]
  std::vector<Draw> draws;
  std::vector<int32_t> wanted;

  void add(std::span<const float> row, const SamplingParams& params, uint64_t seed) {
    draws.push_back(sampler::draw_of(sample_input(row, params, seed), 64));
    wanted.push_back(sampled(row, params, seed));
    logits.insert(logits.end(), row.begin(), row.end());
    logits.insert(logits.end(), kPadding, std::numeric_limits<float>::infinity());
  }
};

std::vector<int32_t> run(Rig& rig, const Rows& rows, int64_t vocab) {
  const auto count = static_cast<int64_t>(rows.draws.size());
  std::vector<int64_t> words(rows.draws.size() * 4);
  std::memcpy(words.data(), rows.draws.data(), words.size() * sizeof(int64_t));
  device::Tensor draws = rig.longs(words);
  draws = device::dense(draws.buffer, DType::i64, {count, 4});
  const device::Tensor tokens = rig.ints(std::vector<int32_t>(rows.draws.size(), -7));
  CHECK_OK(ops::sample(rig.encoder(),
                       {.logits = device::slice(rig.floats(rows.logits, {count, vocab + kPadding}), 1, 0, vocab),
                        .draws = draws,
                        .tokens = tokens}));
  CHECK_OK(rig.finish());
  std::vector<int32_t> got(rows.draws.size());
  std::memcpy(got.data(), rig.bytes(tokens).data(), got.size() * sizeof(int32_t));
  return got;
}

void compare(Rig& rig, const Rows& rows, int64_t vocab) {
  const std::vector<int32_t> got = run(rig, rows, vocab);
  for (size_t r = 0; r < got.size(); ++r) {
    CHECK_EQ(got[r], rows.wanted[r]);
    if (failed()) return note("vocabulary of " + std::to_string(vocab) + ", row " + std::to_string(r));
  }
}

}  // namespace

PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws) {
  Random random(seed(72));
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    for (int64_t vocab : {1, 2, 63, 64, 65, 255, 700, 4095, 4096, 4097, 9999}) {
      Rig rig(name);
      Rows rows;
      for (int i = 0; i < 24; ++i) {
        std::vector<float> row = random_logits_row(random, vocab);
        const float steps = static_cast<float>(1 + random.below(50));  // fewer ties
        for (float& logit : row) logit += static_cast<float>(random.below(50)) / steps;
        rows.add(row, random_params(random), static_cast<uint64_t>(random.below(INT64_MAX)));
      }
      compare(rig, rows, vocab);
    }
  }
}

// Each boundary between two tokens, from both sides: a draw may depend only on the random bits.
PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws_at_every_edge) {
  Random random(seed(73));
  Rig rig("software");
  const std::vector<float> row = random.normal(12);
  SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 64;
  uint64_t total = 0;
  const float highest = *std::ranges::max_element(row);
  const auto weight = [&](float logit) { return sampler::whole_weight(sampler::weight_of(logit - highest)); };
  for (const float logit : row) total += weight(logit);
  Rows rows;
  uint64_t before = 0;
  for (size_t id = 0; id < row.size(); ++id) {
    before += weight(row[id]);
    // The smallest bits whose share of the total is `before`, and the bits just below.
    const auto bits = static_cast<uint64_t>((static_cast<unsigned __int128>(before) << 64) / total) + 1;
    for (const auto& [random_bits, token] : {std::pair(bits - 2, id), std::pair(bits, id + 1)}) {
      if (token == row.size()) continue;
      rows.add(row, params, 0);
      rows.draws.back().random = random_bits;
      rows.wanted.back() = static_cast<int32_t>(token);
    }
  }
  compare(rig, rows, 12);
}

// A row without a request, and one that requests more than fits.
PAGODA_TEST(gpu_sample_stays_in_its_bounds) {
  Random random(seed(74));
  Rig rig("software");
  SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 64;
  Rows rows;
  for (int i = 0; i < 3; ++i) rows.add(random.normal(5000), params, 9);
  rows.draws[0].top_k = 0;
  rows.wanted[0] = -1;
  rows.draws[1].top_k = 1000;
  compare(rig, rows, 5000);
}

PAGODA_TEST(gpu_sample_refuses_what_does_not_fit) {
  Rig rig("software"), cpu("cpu");
  const device::Tensor logits = rig.zeros(DType::f32, {2, 8}), tokens = rig.zeros(DType::i32, {2});
  const device::Tensor draws = rig.zeros(DType::i64, {2, 4});
  CHECK(ops::sample(rig.encoder(), {logits, draws, rig.zeros(DType::i32, {3})}).code == StatusCode::internal);
  CHECK(ops::sample(rig.encoder(), {logits, rig.zeros(DType::i64, {1, 4}), tokens}).code == StatusCode::internal);
  CHECK(ops::sample(cpu.encoder(),
                    {cpu.zeros(DType::f32, {2, 8}), cpu.zeros(DType::i64, {2, 4}), cpu.zeros(DType::i32, {2})})
            .code == StatusCode::unsupported);
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 1, .vocab = 4096}));
  CHECK_OK(ops::sample(rig.encoder(), {logits, draws, tokens}));
  CHECK(rig.finish().message.find("more than was reserved") != std::string::npos);
}

}  // namespace pagoda::test
