// sample with top-p or min-p and without top-k, on every device that has it: how many tokens are likely does not
// matter, only how many have nearly the same logit where the mass of top-p ends.
#include "device/gpu/logits/sample_rows.h"

namespace pagoda::test {
namespace {

struct Shape {
  float temperature = 1.0f, top_p = 1.0f, min_p = 0.0f;
};

// Rows of normally distributed logits, beside each other; none may be left to the sampler.
void compare_shapes(Random& random, const std::string& device, int64_t vocab, const std::vector<Shape>& shapes) {
  const auto count = static_cast<int32_t>(shapes.size());
  Rig rig(device);
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = count, .vocab = vocab}));
  Rows rows;
  for (const Shape& shape : shapes) {
    SamplingParams params;
    params.temperature = shape.temperature, params.top_p = shape.top_p, params.min_p = shape.min_p;
    rows.add(random.normal(vocab), params, static_cast<uint64_t>(random.below(INT64_MAX)));
  }
  compare(rig, rows, vocab);
}

// Draws for rows of `size` tokens of which those in `equal` have one logit, at which the mass of top-p ends.
std::vector<int32_t> draw_among(Rig& rig, size_t size, const std::vector<int32_t>& equal, Rows& rows) {
  SamplingParams params;
  params.temperature = 1.0f;
  for (int i = 0; i < 8; ++i) {
    std::vector<float> row(size, -9.0f);
    row[3] = 2.0f;
    for (const int32_t id : equal) row[static_cast<size_t>(id)] = 1.0f;
    params.top_p = 0.2f + static_cast<float>(i) / 10;
    rows.add(row, params, static_cast<uint64_t>(i));
  }
  return run(rig, rows, static_cast<int64_t>(size));
}

}  // namespace

// From a few likely tokens to all of them.
PAGODA_TEST(gpu_sample_draws_from_any_number_of_likely_tokens) {
  Random random(seed(80));
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    for (const int64_t vocab : {9999, 40000})
      compare_shapes(random, name, vocab,
                     {{0.1f, 0.95f},
                      {0.1f, 1.0f, 0.05f},
                      {1.0f, 0.95f},
                      {1.0f, 0.5f},
                      {1.0f, 1.0f, 0.001f},
                      {1.0f, 0.9f, 0.2f},
                      {3.0f, 0.95f},
                      {0.3f, 0.999f},
                      {1.0f, 1e-6f},
                      {1.0f, 0.7f, 0.9f}});
  }
}

// Tokens that cannot be drawn are in no bucket, also if the nucleus is the first one.
PAGODA_TEST(gpu_sample_counts_no_impossible_tokens) {
  Random random(seed(81));
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 4, .vocab = 9999}));
  Rows rows;
  for (const float top_p : {1e-6f, 0.01f, 0.5f, 0.9f}) {
    std::vector<float> row = random.normal(9999);
    for (size_t i = 0; i < row.size(); i += 2) row[i] = i % 4 == 0 ? -INFINITY : -1e30f;
    SamplingParams params;
    params.temperature = 1.0f, params.top_p = top_p;
    rows.add(row, params, static_cast<uint64_t>(random.below(INT64_MAX)));
  }
  compare(rig, rows, 9999);
}

// Weights are relative to the highest logit of all threads: relative to that of a few they would exceed their integers.
PAGODA_TEST(gpu_sample_weighs_peaks_of_any_thread) {
  Random random(seed(82));
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 8, .vocab = 9999}));
  Rows rows;
  for (int i = 0; i < 8; ++i) {
    std::vector<float> row = random.normal(9999);
    for (size_t peak = 0; peak < 20; ++peak)
      row[40 + 256 * peak + static_cast<size_t>(random.below(200))] =
          25.0f + static_cast<float>(random.below(100)) / 100;
    SamplingParams params;
    params.temperature = 1.0f, params.top_p = i % 2 == 0 ? 1.0f : 0.6f;
    rows.add(row, params, static_cast<uint64_t>(random.below(INT64_MAX)));
  }
  compare(rig, rows, 9999);
}

// The vocabulary of Qwen3.5, as bench --tests b32+top-p has it: the most likely logit is 6 above the 20th.
PAGODA_TEST(gpu_sample_draws_from_whole_vocabularies) {
  Random random(seed(81));
  for (const std::string& name : tested_devices())
    if (runs_kernels(name)) compare_shapes(random, name, 248320, {{0.1f, 0.95f}, {0.1f, 1.0f, 0.05f}, {1.6f, 0.95f}});
}

// The most equal tokens that a part compares, and one more, which leaves the row to the sampler.
PAGODA_TEST(gpu_sample_compares_equal_tokens_by_id) {
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    Rig rig(name);
    std::vector<int32_t> equal;
    for (int32_t i = 0; i < 16; ++i) equal.push_back(3000 - i * 150);
    Rows some, more;
    CHECK_EQ(draw_among(rig, 4000, equal, some), some.wanted);
    equal.push_back(8);
    const std::vector<int32_t> got = draw_among(rig, 4000, equal, more);
    CHECK_EQ(std::ranges::count(got, -1), 8);
  }
}

// 256 in all parts together, and one more.
PAGODA_TEST(gpu_sample_compares_equal_tokens_of_all_parts) {
  constexpr size_t kVocab = 20 * 4096;
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    Rig rig(name);
    CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 8, .vocab = kVocab}));
    std::vector<int32_t> equal;
    for (int32_t i = 0; i < 256; ++i) equal.push_back(7 + i * 256);  // 256 chunks, whose parts take turns
    Rows some, more;
    CHECK_EQ(draw_among(rig, kVocab, equal, some), some.wanted);
    equal.push_back(9);
    const std::vector<int32_t> got = draw_among(rig, kVocab, equal, more);
    CHECK_EQ(std::ranges::count(got, -1), 8);
  }
}

// All tokens of a part are the most likely one: their mass exceeds 32 bits in both halves of its numbers.
PAGODA_TEST(gpu_sample_adds_the_masses_of_equal_tokens) {
  Random random(seed(82));
  constexpr int64_t kParts = 3, kVocab = kParts * 4096;
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    Rig rig(name);
    CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 4, .vocab = kVocab}));
    Rows rows;
    for (int i = 0; i < 4; ++i) {
      std::vector<float> row = random.normal(kVocab);
      for (int64_t id = 0; id < kVocab; ++id) {
        float& logit = row[static_cast<size_t>(id)];
        logit = id / 256 % kParts == 0 ? 0.0f : -1.0f - std::abs(logit);
      }
      SamplingParams params;
      params.temperature = 1.0f;
      params.top_p = 0.8f + static_cast<float>(i) / 20;
      rows.add(row, params, static_cast<uint64_t>(random.below(INT64_MAX)));
    }
    compare(rig, rows, kVocab);
  }
}

}  // namespace pagoda::test
