// Expert ops on every device that has them: close to the reference, and bit-identical for any batch composition.
#include <cmath>
#include <cstring>

#include "device/expert_mixture.h"

using namespace pagoda;
using namespace pagoda::test;

namespace {

double tolerance(WeightFormat format) {
  return is_quantised(format) ? 0.08 : format == WeightFormat::bf16 ? 0.02 : 2e-5;
}

constexpr WeightFormat kFormats[] = {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8,
                                     WeightFormat::q4};

}  // namespace

PAGODA_TEST(conformance_experts) {
  int num_compared = 0;
  for (WeightFormat format : kFormats)
    for (int64_t tokens : {1, 2, 17, 70})
      for (bool normalise : {true, false}) {
        const uint64_t start = seed(5) + static_cast<uint64_t>(tokens);
        const bool has_shared = tokens != 17;
        for (const std::string& name : tested_devices()) {
          Rig rig(name), reference("reference");
          REQUIRE(reference.is_ok());
          if (runs_kernels(name)) reference.round_weights_in_groups();
          const Mixture wanted = make_mixture(reference, start, tokens, format);
          run(reference, wanted, 0, tokens, normalise, has_shared);
          const Mixture got = make_mixture(rig, start, tokens, format);
          run(rig, got, 0, tokens, normalise, has_shared);
          CHECK(rig.bytes(got.ids) == reference.bytes(wanted.ids));
          const auto a = rig.read(got.weights), b = reference.read(wanted.weights);
          for (size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 2e-6);
          const auto x = rig.read(got.out), y = reference.read(wanted.out);
          for (size_t i = 0; i < x.size(); ++i) CHECK(std::abs(x[i] - y[i]) <= tolerance(format));
          if (failed()) note(name + " " + std::string(weight_format_name(format)));
          ++num_compared;
        }
      }
  CHECK(num_compared > 0);
}

PAGODA_TEST(invariance_experts_rows_do_not_depend_on_their_company) {
  constexpr int64_t kTokens = 70;
  for (const std::string& name : tested_devices()) {
    for (WeightFormat format : kFormats) {
      Rig rig(name);
      const uint64_t start = seed(9);
      const Mixture together = make_mixture(rig, start, kTokens, format);
      const Mixture apart = make_mixture(rig, start, kTokens, format);
      run(rig, together, 0, kTokens, true);
      for (int64_t first = 0, count = 1; first < kTokens; first += count, count = std::min(count * 2, kTokens - first))
        run(rig, apart, first, std::min(count, kTokens - first), true);
      CHECK(rig.bytes(together.out) == rig.bytes(apart.out));
      if (failed()) note(name + " " + std::string(weight_format_name(format)));
    }
  }
}

// Sigmoids with a bias, groups, a scale, and a shared expert without a gate, as DeepSeek and GLM have them.
PAGODA_TEST(conformance_experts_of_groups) {
  constexpr int64_t kTokens = 40, kMany = 24, kEach = 4;
  const struct {
    bool is_sigmoid, has_bias, normalise;
    int64_t groups, kept;
    float scale;
  } rows[] = {{false, false, false, 6, 2, 1.5f}, {false, false, true, 4, 4, 1.0f}, {true, true, true, 4, 2, 2.5f},
              {true, true, false, 1, 1, 1.0f},   {true, false, true, 8, 3, 0.5f},  {false, false, false, 1, 1, 16.0f}};
  for (const std::string& name : tested_devices()) {
    for (const auto& row : rows) {
      Rig reference("reference"), rig(name);
      std::vector<std::byte> ids[2];
      std::vector<float> weights[2];
      for (Rig* r : {&reference, &rig}) {
        Random random(seed(12));
        const Tensor chosen = r->zeros(DType::i32, {kTokens, kEach}), shares = r->zeros(DType::f32, {kTokens, kEach});
        const Tensor logits = r->floats(random.normal(kTokens * kMany), {kTokens, kMany});
        const Tensor bias = row.has_bias ? r->floats(random.normal(kMany, 0.3f), {kMany}) : Tensor{};
        CHECK_OK(ops::route_experts(r->encoder(), {logits, chosen, shares, row.normalise, row.is_sigmoid, bias,
                                                   row.groups, row.kept, row.scale}));
        CHECK_OK(r->finish());
        ids[r == &rig] = r->bytes(chosen);
        weights[r == &rig] = r->read(shares);
      }
      CHECK(ids[0] == ids[1]);
      for (size_t i = 0; i < weights[0].size(); ++i)
        CHECK(std::abs(weights[0][i] - weights[1][i]) <= 2e-6f * std::abs(row.scale));
    }
  }
}

PAGODA_TEST(ops_groups_of_experts_that_cannot_be_are_refused) {
  Rig rig("cpu");
  const Tensor logits = rig.zeros(DType::f32, {1, 8}), bias = rig.zeros(DType::f32, {8});
  const Tensor ids = rig.zeros(DType::i32, {1, 3}), weights = rig.zeros(DType::f32, {1, 3});
  const auto route = [&](bool is_sigmoid, const Tensor& b, int64_t groups, int64_t kept) {
    return ops::route_experts(rig.encoder(), {logits, ids, weights, true, is_sigmoid, b, groups, kept, 1.0f}).code;
  };
  CHECK(route(true, bias, 4, 2) == StatusCode::ok);
  CHECK(route(true, bias, 3, 2) == StatusCode::internal);   // does not divide
  CHECK(route(true, bias, 4, 1) == StatusCode::internal);   // two experts in the groups, three needed
  CHECK(route(true, bias, 8, 4) == StatusCode::internal);   // groups have no second-best expert
  CHECK(route(false, bias, 4, 2) == StatusCode::internal);  // a bias with a softmax
  CHECK(route(false, Tensor{}, 2, 3) == StatusCode::internal);
  CHECK_OK(rig.finish());
}

PAGODA_TEST(ops_a_shared_expert_without_a_gate_is_added_as_it_is) {
  for (const std::string& name : tested_devices()) {
    Rig rig(name);
    const Tensor x = rig.floats({1, 2, 10, 20}, {2, 2}), weights = rig.floats({0.5f, 0.25f}, {1, 2});
    const Tensor shared = rig.floats({3, 4}, {1, 2});
    CHECK_OK(ops::combine_experts(rig.encoder(), {x, weights, shared, Tensor{}, shared}));
    CHECK_OK(rig.finish());
    CHECK(rig.read(shared) == std::vector<float>({6, 10}));
  }
}

PAGODA_TEST(ops_experts_of_equal_probability_are_taken_in_order) {
  for (const std::string& name : tested_devices()) {
    Rig rig(name);
    const Tensor logits = rig.floats({1, 2, 2, 0, 2, -1}, {1, 6});
    const Tensor ids = rig.zeros(DType::i32, {1, 4}), weights = rig.zeros(DType::f32, {1, 4});
    CHECK_OK(ops::route_experts(rig.encoder(), {.logits = logits, .ids = ids, .weights = weights, .normalise = true}));
    CHECK_OK(rig.finish());
    const std::vector<int32_t> wanted = {1, 2, 4, 0};
    CHECK(std::memcmp(rig.bytes(ids).data(), wanted.data(), 16) == 0);
  }
}

// Hundreds of experts, most without a row and some with more rows than a tile.
PAGODA_TEST(conformance_experts_of_a_large_mixture) {
  constexpr int64_t kMany = 512, kTokens = 40, kEach = 10, kCols = 64, kRows = 16;
  for (const std::string& name : tested_devices()) {
    Rig reference("reference"), rig(name);
    std::vector<float> out[2];
    for (Rig* r : {&reference, &rig}) {
      Random random(seed(6));
      const Tensor logits = r->floats(random.normal(kTokens * kMany), {kTokens, kMany});
      const Tensor x = r->floats(random.normal(kTokens * kCols), {kTokens, kCols});
      device::Weight* weight = r->weight(random.normal(kMany * kRows * kCols), kMany * kRows, kCols, WeightFormat::f32);
      const Tensor ids = r->zeros(DType::i32, {kTokens, kEach}), weights = r->zeros(DType::f32, {kTokens, kEach});
      const Tensor products = r->zeros(DType::f32, {kTokens * kEach, kRows});
      CHECK_OK(ops::route_experts(r->encoder(), {logits, ids, weights, false}));
      CHECK_OK(r->finish());
      const auto routed = r->read(weights);
      out[r == &rig].insert(out[r == &rig].end(), routed.begin(), routed.end());
      std::vector<int32_t> crowded(kTokens * kEach);
      for (int32_t& id : crowded) id = static_cast<int32_t>(random.below(2) == 0 ? 300 : random.below(kMany));
      const Tensor chosen = r->ints(crowded, {kTokens, kEach});
      CHECK_OK(ops::expert_matmul(r->encoder(),
                                  {.x = x, .weight = weight, .num_experts = kMany, .ids = chosen, .out = products}));
      CHECK_OK(r->finish());
      const auto multiplied = r->read(products);
      out[r == &rig].insert(out[r == &rig].end(), multiplied.begin(), multiplied.end());
    }
    for (size_t i = 0; i < out[0].size(); ++i) CHECK(std::abs(out[0][i] - out[1][i]) <= 2e-5);
    if (failed()) note(name);
  }
}

namespace {

// A product of experts with very different numbers of rows: the first has half of them, the second none.
struct Crowd {
  static constexpr int64_t kFew = 4, kEach = 2, kTokens = 60, kCols = 704, kOut = 72;
  Tensor x, ids, out;
  device::Weight* weight;

  Crowd(Rig& rig, WeightFormat format) {
    Random random(seed(7));
    x = rig.floats(random.normal(kTokens * kCols), {kTokens, kCols});
    weight = rig.weight(random.normal(kFew * 2 * kOut * kCols, 0.04f), kFew * 2 * kOut, kCols, format);
    std::vector<int32_t> chosen;
    for (int64_t token = 0; token < kTokens; ++token) {
      chosen.push_back(token % 20 == 0 ? 3 : 0);
      chosen.push_back(token % 15 == 0 ? 3 : 2);
    }
    ids = rig.ints(chosen, {kTokens, kEach});
    out = rig.zeros(DType::f32, {kTokens * kEach, 2 * kOut});
  }

  // With silu_mul, half of the columns.
  std::vector<float> multiply(Rig& rig, int64_t first, int64_t count, bool silu_mul) {
    const Tensor rows = device::slice(out, 0, first * kEach, count * kEach);
    const std::vector<float> nothing(static_cast<size_t>(out.num_elements()));
    CHECK_OK(rig.device().upload(out, nothing.data(), nothing.size() * sizeof(float)));
    CHECK_OK(ops::expert_matmul(rig.encoder(), {.x = device::slice(x, 0, first, count),
                                                .weight = weight,
                                                .num_experts = kFew,
                                                .ids = device::slice(ids, 0, first, count),
                                                .out = silu_mul ? device::slice(rows, 1, 0, kOut) : rows,
                                                .silu_mul = silu_mul}));
    return rig.read(out);
  }
};

}  // namespace

// 60 tokens use the kernels for many rows per expert (the first expert has two tiles); one token uses those for few.
PAGODA_TEST(invariance_experts_of_few_and_many_rows) {
  constexpr size_t kRow = Crowd::kEach * 2 * Crowd::kOut;
  for (WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
    for (const std::string& name : tested_devices()) {
      Rig rig(name), reference("reference");
      if (runs_kernels(name)) reference.round_weights_in_groups();
      Crowd crowd(reference, format);
      const std::vector<float> wanted[] = {crowd.multiply(reference, 0, Crowd::kTokens, false),
                                           crowd.multiply(reference, 0, Crowd::kTokens, true)};
      Crowd tested(rig, format);
      for (const bool silu_mul : {false, true}) {
        const std::vector<float> together = tested.multiply(rig, 0, Crowd::kTokens, silu_mul);
        for (size_t i = 0; i < together.size(); ++i)
          CHECK(std::abs(together[i] - wanted[silu_mul][i]) <= tolerance(format));
        for (const size_t token : {0, 1, 30, 59}) {
          const std::vector<float> alone = tested.multiply(rig, static_cast<int64_t>(token), 1, silu_mul);
          CHECK(std::memcmp(&together[token * kRow], &alone[token * kRow], kRow * sizeof(float)) == 0);
        }
      }
      if (failed()) note(name + " " + std::string(weight_format_name(format)));
    }
  }
}
