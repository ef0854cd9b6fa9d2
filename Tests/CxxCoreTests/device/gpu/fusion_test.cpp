// Ops that the GPU encoder fuses: the same bits as separate ops, in fewer launches.
#include <cstring>

#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::Tensor;

enum class Maker { rms_norm, gated_rms_norm, sigmoid_gate };

// The tensor layout of a case.
struct Case {
  WeightFormat format;
  int64_t rows, heads, dim;
  int64_t gap = 0;  // columns between rows of x
};

struct Results {
  std::vector<float> product, x, normed;
  int64_t launches = 0;
};

int64_t launches_of(Rig& rig) {
  int64_t count = 0;
  for (const device::OpTime& op : rig.device().take_profile())
    if (op.name != "step") count += op.calls;
  return count;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void make_rows(Rig& rig, Random& random, Maker maker, const Case& c, const Tensor& x, const Tensor& out, bool fused) {
  const int64_t width = c.heads * c.dim;
  const Tensor gate =
      device::slice(rig.floats(random.normal(c.rows * 2 * width), {c.rows, 2 * width}), 1, width, width);
  const auto heads = [&](const Tensor& t) { return device::split_last(t, c.heads, c.dim); };
  if (maker == Maker::rms_norm)
    CHECK_OK(ops::rms_norm(rig.encoder(), {.x = x,
                                           .residual = {},
                                           .weight = rig.floats(random.normal(width), {width}),
                                           .weight_offset = 1.0f,
                                           .out = out,
                                           .only_next = fused}));
  else if (maker == Maker::gated_rms_norm)
    CHECK_OK(ops::gated_rms_norm(rig.encoder(), {.x = heads(x),
                                                 .z = heads(gate),
                                                 .weight = rig.floats(random.normal(c.dim), {c.dim}),
                                                 .out = heads(out),
                                                 .only_next = fused}));
  else
    CHECK_OK(
        ops::sigmoid_gate(rig.encoder(), {.x = heads(x), .gate = heads(gate), .out = heads(out), .only_next = fused}));
}

// A maker's rows times a weight, added to a stream that is then normalised. `fused`: only the matmul reads the rows,
// and the norm follows immediately; otherwise an op between them prevents adding the product as it is computed.
Results run(Maker maker, const Case& c, bool fused) {
  constexpr int64_t kN = 40;
  Rig rig("software");
  rig.device().set_profiling(true);
  Random random(seed(91));
  const int64_t width = c.heads * c.dim;
  const Tensor x =
      device::slice(rig.floats(random.normal(c.rows * (width + c.gap)), {c.rows, width + c.gap}), 1, 0, width);
  const Tensor made = rig.zeros(DType::f32, {c.rows, width}), product = rig.zeros(DType::f32, {c.rows, kN});
  device::Weight* weight = rig.weight(random.normal(kN * width), kN, width, c.format);
  const Tensor stream = rig.floats(random.normal(c.rows * kN), {c.rows, kN});
  const Tensor normed = rig.zeros(DType::f32, {c.rows, kN});
  const Tensor bias = rig.floats(random.normal(kN), {kN}), norm = rig.floats(random.normal(kN), {kN});
  make_rows(rig, random, maker, c, x, made, fused);
  CHECK_OK(ops::matmul(rig.encoder(), {.x = made, .weight = weight, .bias = bias, .out = product}));
  if (!fused) CHECK_OK(rig.finish());
  CHECK_OK(ops::rms_norm(rig.encoder(), {.x = stream, .residual = product, .weight = norm, .out = normed}));
  CHECK_OK(rig.finish());
  return {{}, rig.read(stream), rig.read(normed), launches_of(rig)};
}

std::string describe(Maker maker, const Case& c) {
  return "maker " + std::to_string(static_cast<int>(maker)) + ", " + std::string(weight_format_name(c.format)) + ", " +
         std::to_string(c.rows) + " rows of " + std::to_string(c.heads) + " x " + std::to_string(c.dim) + ", gap " +
         std::to_string(c.gap);
}

struct Mixer {
  int64_t k_heads, v_heads, dk, dv, ring, taps = 4;
  DType state = DType::f32;
};

// All results and state after single-token steps of two sequences; `launches`: those of the last step.
std::vector<std::vector<float>> mix_tokens(const Mixer& m, bool fused, int64_t& launches) {
  using device::slice, device::split_last;
  constexpr int64_t kSteps = 18;  // past the end of a block
  Rig rig("software");
  rig.device().set_profiling(true);
  Random random(seed(93));
  const int64_t keys = m.k_heads * m.dk, values = m.v_heads * m.dv, channels = 2 * keys + values;
  const Tensor weight = rig.floats(random.normal(m.taps * channels), {m.taps, channels});
  const Tensor tail = rig.zeros(DType::f32, {3, m.ring, channels}),
               state = rig.zeros(m.state, {3, m.v_heads, m.dk, m.dv});
  const Tensor k_rows = rig.zeros(DType::f32, {3, m.k_heads, 16, m.dk}),
               u_rows = rig.zeros(DType::f32, {3, m.v_heads, 16, m.dv});
  const Tensor g_rows = rig.zeros(DType::f32, {3, m.v_heads, 16});
  const Tensor a_log = rig.floats(random.normal(m.v_heads), {m.v_heads}),
               dt_bias = rig.floats(random.normal(m.v_heads), {m.v_heads});
  std::vector<std::vector<float>> results;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto sequences = make_sequences(rig, {{step, step + 3}, {1, 1}}, 16, 4);
    const Tensor x = rig.floats(random.normal(2 * channels), {2, channels}),
                 ab = rig.floats(random.normal(4 * m.v_heads), {2, 2 * m.v_heads});
    const Tensor qkv = rig.zeros(DType::f32, {2, channels}), out = rig.zeros(DType::f32, {2, m.v_heads, m.dv});
    launches_of(rig);
    CHECK_OK(ops::causal_conv1d(rig.encoder(), {x, weight, tail, sequences, qkv}));
    if (!fused) CHECK_OK(rig.finish());
    CHECK_OK(ops::gdn(
        rig.encoder(),
        {split_last(slice(qkv, 1, 0, keys), m.k_heads, m.dk), split_last(slice(qkv, 1, keys, keys), m.k_heads, m.dk),
         split_last(slice(qkv, 1, 2 * keys, values), m.v_heads, m.dv), slice(ab, 1, 0, m.v_heads),
         slice(ab, 1, m.v_heads, m.v_heads), a_log, dt_bias, sequences, state, k_rows, u_rows, g_rows, out}));
    CHECK_OK(rig.finish());
    launches = launches_of(rig);
    results.push_back(rig.read(out));
  }
  for (const Tensor& pool : {tail, state, k_rows, u_rows, g_rows}) results.push_back(rig.read(pool));
  return results;
}

}  // namespace

// A ring of 3 rows has space only for the past of a window of 4; windows of other sizes are loaded differently.
PAGODA_TEST(gpu_fusion_convolves_in_the_gdn_kernel) {
  const Mixer mixers[] = {{2, 4, 24, 40, 10},
                          {1, 2, 128, 128, 4},
                          {1, 1, 200, 20, 10},
                          {2, 2, 16, 16, 3},
                          {1, 2, 16, 24, 9, 3},
                          {1, 1, 24, 16, 12, 5},
                          {1, 2, 128, 128, 4, 4, DType::bf16},
                          {1, 1, 200, 20, 10, 4, DType::bf16}};
  for (const Mixer& m : mixers) {
    int64_t launches[2] = {};
    const auto apart = mix_tokens(m, false, launches[0]), fused = mix_tokens(m, true, launches[1]);
    CHECK(launches[0] == 2 && launches[1] == (m.ring >= m.taps ? 1 : 2));
    for (size_t i = 0; i < apart.size(); ++i)
      if (!same_bits(fused[i], apart[i]))
        fail(__FILE__, __LINE__,
             "heads of " + std::to_string(m.dk) + " x " + std::to_string(m.dv) + ", result " + std::to_string(i) +
                 ": other bits than one by one");
  }
}

// 9 rows are too many to compute in every threadgroup; 24 and 65 heads, rows of 81 and 49 columns have no fused kernel.
PAGODA_TEST(gpu_fusion_gives_the_bits_of_single_ops) {
  const Case cases[] = {
      {WeightFormat::bf16, 1, 4, 16},    {WeightFormat::bf16, 8, 3, 64},  {WeightFormat::bf16, 3, 12, 192},
      {WeightFormat::bf16, 9, 4, 32},    {WeightFormat::bf16, 2, 5, 16},  {WeightFormat::bf16, 3, 4, 24, 4},
      {WeightFormat::bf16, 2, 4, 16, 1}, {WeightFormat::bf16, 2, 65, 16}, {WeightFormat::q8, 2, 4, 32},
      {WeightFormat::q4, 9, 3, 32, 4},   {WeightFormat::f16, 2, 3, 80},   {WeightFormat::f32, 3, 4, 16},
      {WeightFormat::q8, 3, 12, 192},    {WeightFormat::q4, 8, 3, 64}};
  for (const Maker maker : {Maker::rms_norm, Maker::gated_rms_norm, Maker::sigmoid_gate})
    for (const Case& c : cases) {
      const Results fused = run(maker, c, true), apart = run(maker, c, false);
      if (!same_bits(fused.x, apart.x) || !same_bits(fused.normed, apart.normed))
        fail(__FILE__, __LINE__, describe(maker, c) + ": other bits than one by one");
      if (fused.launches > apart.launches) fail(__FILE__, __LINE__, describe(maker, c) + ": more launches");
    }
}

PAGODA_TEST(gpu_fusion_makes_few_rows_in_the_matmul) {
  for (const Maker maker : {Maker::rms_norm, Maker::gated_rms_norm, Maker::sigmoid_gate}) {
    CHECK(run(maker, {WeightFormat::bf16, 8, 4, 16}, true).launches == 2);  // product, norm
    CHECK(run(maker, {WeightFormat::bf16, 8, 4, 16}, false).launches == 3);
    CHECK(run(maker, {WeightFormat::q8, 8, 4, 64}, true).launches == 2);
    CHECK(run(maker, {WeightFormat::q8, 8, 4, 64}, false).launches == 3);
  }
}

// A product is not added to its own input: other threadgroups still read that.
PAGODA_TEST(gpu_fusion_adds_no_product_to_its_own_source) {
  constexpr int64_t kRows = 2, kWidth = 64;
  std::vector<float> results[2];
  for (const bool fused : {false, true}) {
    Rig rig("software");
    Random random(seed(92));
    const Tensor stream = rig.floats(random.normal(kRows * kWidth), {kRows, kWidth});
    const Tensor normed = rig.zeros(DType::f32, {kRows, kWidth}), delta = rig.zeros(DType::f32, {kRows, kWidth});
    const Tensor norm = rig.floats(random.normal(kWidth), {kWidth});
    device::Weight* weight = rig.weight(random.normal(kWidth * kWidth), kWidth, kWidth, WeightFormat::bf16);
    CHECK_OK(
        ops::rms_norm(rig.encoder(), {.x = stream, .residual = {}, .weight = norm, .out = normed, .only_next = fused}));
    CHECK_OK(ops::matmul(rig.encoder(), {.x = normed, .weight = weight, .bias = {}, .out = delta}));
    CHECK_OK(ops::rms_norm(rig.encoder(), {.x = stream, .residual = delta, .weight = norm, .out = normed}));
    CHECK_OK(rig.finish());
    results[fused] = rig.read(normed);
  }
  CHECK(same_bits(results[0], results[1]));
}

}  // namespace pagoda::test
