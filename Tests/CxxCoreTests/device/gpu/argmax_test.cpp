// argmax on every device that has it: the token that the sampler takes, and -1 where the sampler refuses the row.
#include <cmath>
#include <cstring>
#include <limits>

#include "device/rig.h"
#include "ops/argmax.h"
#include "sampler/sampler.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kPadding = 3;  // between rows

// Many ties, and among them the two zeros and minus infinity; some rows with what no row may have.
std::vector<float> random_row(Random& random, int64_t vocab) {
  std::vector<float> row = random.normal(vocab, 3);
  const int64_t kind = random.below(12);
  const auto anywhere = [&]() -> float& { return row[static_cast<size_t>(random.below(vocab))]; };
  for (float& logit : row) {
    logit = std::round(logit);
    if (kind == 1 || kind == 2) logit = -std::abs(logit);  // the highest are zeros
    if (kind == 3) logit = -kInfinity;
    if (kind == 4 && random.below(2) == 0) logit = -kInfinity;
    if (kind == 5) logit *= std::numeric_limits<float>::denorm_min();
  }
  if (kind == 2) anywhere() = 0.0f;
  if (kind == 3 && random.below(2) == 0) anywhere() = std::numeric_limits<float>::lowest();
  if (kind == 6) anywhere() = kNan;
  if (kind == 7) anywhere() = -kNan;
  if (kind == 8) anywhere() = kInfinity;
  if (kind == 9) anywhere() = std::numeric_limits<float>::max();
  return row;
}

// What the sampler takes; -1 where it refuses.
int32_t taken(std::span<const float> row) {
  sampler::Sampler sampler(static_cast<int32_t>(row.size()));
  const SamplingParams greedy;
  sampler::SampleInput input;
  input.logits = row;
  input.params = &greedy;
  sampler::SampleOutput output;
  return sampler.sample(input, output).is_ok() ? output.token_id : -1;
}

void compare(const std::string& name, Random& random, int64_t vocab) {
  Rig rig(name);
  const int64_t rows = 1 + random.below(30), stride = vocab + kPadding;
  std::vector<float> all;
  std::vector<int32_t> wanted;
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<float> row = random_row(random, vocab);
    wanted.push_back(taken(row));
    all.insert(all.end(), row.begin(), row.end());
    all.insert(all.end(), kPadding, kInfinity);
  }
  const device::Tensor logits = device::slice(rig.floats(all, {rows, stride}), 1, 0, vocab);
  const device::Tensor tokens = rig.zeros(DType::i32, {rows});
  CHECK_OK(ops::argmax(rig.encoder(), {.logits = logits, .tokens = tokens}));
  CHECK_OK(rig.finish());
  std::vector<int32_t> got(wanted.size());
  std::memcpy(got.data(), rig.bytes(tokens).data(), got.size() * sizeof(int32_t));
  for (size_t r = 0; r < got.size(); ++r) {
    CHECK_EQ(got[r], wanted[r]);
    if (failed()) return note(name + ", vocabulary of " + std::to_string(vocab) + ", row " + std::to_string(r));
  }
}

}  // namespace

PAGODA_TEST(gpu_argmax_takes_what_the_sampler_takes) {
  Random random(seed(71));
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    for (int64_t vocab : {1, 2, 255, 700, 4095, 4096, 4097, 8192, 9999}) compare(name, random, vocab);
    for (int i = 0; i < 10; ++i) compare(name, random, 1 + random.below(10000));
  }
}

PAGODA_TEST(gpu_argmax_refuses_what_does_not_fit) {
  Rig rig("software"), cpu("cpu");
  const device::Tensor logits = rig.zeros(DType::f32, {2, 8}), tokens = rig.zeros(DType::i32, {2});
  CHECK(ops::argmax(rig.encoder(), {logits, rig.zeros(DType::i32, {3})}).code == StatusCode::internal);
  CHECK(ops::argmax(rig.encoder(), {rig.zeros(DType::f32, {2, 0}), tokens}).code == StatusCode::internal);
  CHECK(ops::argmax(cpu.encoder(), {cpu.zeros(DType::f32, {2, 8}), cpu.zeros(DType::i32, {2})}).code ==
        StatusCode::unsupported);
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 1, .vocab = 4096}));
  CHECK_OK(ops::argmax(rig.encoder(), {logits, tokens}));
  CHECK(rig.finish().message.find("more than reserve() was told") != std::string::npos);
}

}  // namespace pagoda::test
