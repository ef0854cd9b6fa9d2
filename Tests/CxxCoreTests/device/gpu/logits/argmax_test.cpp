// argmax on every device that has it: the token that the sampler takes, and -1 where the sampler refuses the row.
#include <cstring>

#include "device/gpu/logits/logits_rows.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

constexpr int64_t kPadding = 3;  // between rows

void compare(const std::string& name, Random& random, int64_t vocab) {
  Rig rig(name);
  const int64_t rows = 1 + random.below(30), stride = vocab + kPadding;
  std::vector<float> all;
  std::vector<int32_t> wanted;
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<float> row = random_logits_row(random, vocab);
    wanted.push_back(sampled(row, SamplingParams{}, 0));
    all.insert(all.end(), row.begin(), row.end());
    all.insert(all.end(), kPadding, std::numeric_limits<float>::infinity());
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
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 1, .vocab = 4096}));  // some 2 KB, for sample
  CHECK_OK(ops::argmax(rig.encoder(), {rig.zeros(DType::f32, {500, 8}), rig.zeros(DType::i32, {500})}));
  CHECK(rig.finish().message.find("more than was reserved") != std::string::npos);
}

}  // namespace pagoda::test
