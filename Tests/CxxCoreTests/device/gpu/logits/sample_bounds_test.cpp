// sample at its edges: boundaries between tokens, rows without a request, and what does not fit.
#include "device/gpu/logits/sample_rows.h"

namespace pagoda::test {

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
  const device::Tensor draws = rig.zeros(DType::i64, {2, 7});
  CHECK(ops::sample(rig.encoder(), {logits, draws, {}, {}, rig.zeros(DType::i32, {3}), {}}).code ==
        StatusCode::internal);
  CHECK(ops::sample(rig.encoder(), {logits, rig.zeros(DType::i64, {1, 7}), {}, {}, tokens, {}}).code ==
        StatusCode::internal);
  CHECK(ops::sample(
            cpu.encoder(),
            {cpu.zeros(DType::f32, {2, 8}), cpu.zeros(DType::i64, {2, 7}), {}, {}, cpu.zeros(DType::i32, {2}), {}})
            .code == StatusCode::unsupported);
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 1, .vocab = 4096}));
  CHECK_OK(ops::sample(rig.encoder(), {logits, draws, {}, {}, tokens, {}}));
  CHECK(rig.finish().message.find("more than was reserved") != std::string::npos);
}

}  // namespace pagoda::test
