// The conformance table: the ops of vision towers.
#include <algorithm>
#include <cmath>

#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

PAGODA_TEST(conformance_layer_norm) {
  for (const std::string& name : selected_devices())
    for (const bool has_residual : {false, true})
      for (const int64_t width : {1, 20, 72, 300, 2100}) {
        Random random(static_cast<uint64_t>(width));
        Rig rig(name);
        REQUIRE(rig.is_ok());
        std::vector<float> values = random.normal(3 * width);
        for (float& value : values) value += 2.0f;  // a mean far from 0
        const std::vector<float> residual = random.normal(3 * width), weight = random.normal(width),
                                 bias = random.normal(width);
        const Tensor x = rig.floats(values, {3, width}), out = rig.zeros(DType::f32, {3, width});
        const Tensor added = has_residual ? rig.floats(residual, {3, width}) : Tensor{};
        CHECK_OK(ops::layer_norm(rig.encoder(), {.x = x,
                                                 .residual = added,
                                                 .weight = rig.floats(weight, {width}),
                                                 .bias = rig.floats(bias, {width}),
                                                 .out = out}));
        CHECK_OK(rig.finish());
        const std::vector<float> sums = rig.read(x), result = rig.read(out);
        for (size_t row = 0, n = static_cast<size_t>(width); row < 3; ++row) {
          double mean = 0, variance = 0;
          for (size_t i = row * n; i < (row + 1) * n; ++i) {
            CHECK_EQ(sums[i], values[i] + (has_residual ? residual[i] : 0.0f));
            mean += static_cast<double>(sums[i]) / static_cast<double>(n);
          }
          for (size_t i = row * n; i < (row + 1) * n; ++i)
            variance += (sums[i] - mean) * (sums[i] - mean) / static_cast<double>(n);
          for (size_t i = 0; i < n; ++i) {
            const double wanted = (sums[row * n + i] - mean) / std::sqrt(variance + 1e-6) * weight[i] + bias[i];
            CHECK(std::abs(result[row * n + i] - wanted) < (width == 1 ? 1e-3 : 1e-5));
          }
        }
      }
}

PAGODA_TEST(conformance_gelu) {
  for (const bool is_exact : {false, true})
    for (const std::string& name : selected_devices()) {
      Rig rig(name);
      REQUIRE(rig.is_ok());
      std::vector<float> values = {-90, -4, -1, -0.3f, 0, 1e-4f, 0.5f, 1, 3, 90};
      for (int i = 0; i < 290; ++i) values.push_back(static_cast<float>(i - 145) / 20);
      const Tensor x = rig.floats(values, {2, 150});
      CHECK_OK(ops::gelu(rig.encoder(), {.x = x, .is_exact = is_exact}));
      CHECK_OK(rig.finish());
      const std::vector<float> result = rig.read(x);
      for (size_t i = 0; i < values.size(); ++i) {
        const double v = values[i], cubic = std::sqrt(2 / 3.14159265358979) * (v + 0.044715 * v * v * v);
        const double wanted = 0.5 * v * (1 + (is_exact ? std::erf(v / std::sqrt(2.0)) : std::tanh(cubic)));
        CHECK(std::abs(result[i] - wanted) <= 2e-6 * (1 + std::abs(wanted)));
      }
    }
}

// Every row attends to all positions, also to those of the rows after it. The cache is longer than the sequence, and
// holds garbage there.
PAGODA_TEST(conformance_full_attention) {
  constexpr int64_t kContext = 301, kCached = 304, kHeads = 3;
  const struct {
    DType type;
    int64_t dim, rows;
  } cases[] = {{DType::f32, 20, 5},  {DType::f32, 24, 5},   {DType::f32, 64, 1},
               {DType::f32, 72, 19}, {DType::bf16, 72, 19}, {DType::bf16, 64, 135},
               {DType::bf16, 40, 3}, {DType::bf16, 96, 20}, {DType::bf16, 136, 20}};
  for (const std::string& name : selected_devices())
    for (const auto& [type, dim, rows] : cases) {
      if (runs_kernels(name) && dim % 8 != 0) continue;  // towers with such heads run on the CPU
      Random random(static_cast<uint64_t>(dim));
      Rig rig(name);
      REQUIRE(rig.is_ok());
      std::vector<float> queries = random.normal(rows * kHeads * dim);
      const Tensor k_cache = rig.kv_cache(type, 1, kCached, kHeads, dim),
                   v_cache = rig.kv_cache(type, 1, kCached, kHeads, dim);
      std::vector<int64_t> slots;
      for (int64_t i = 0; i < kCached; ++i) slots.push_back(i);
      std::vector<float> keys = random.normal(kCached * kHeads * dim), values = random.normal(kCached * kHeads * dim);
      std::fill(keys.begin() + kContext * kHeads * dim, keys.end(), 1e30f);
      std::fill(values.begin() + kContext * kHeads * dim, values.end(), 1e30f);
      CHECK_OK(ops::reshape_and_cache(
          rig.encoder(), {rig.floats(keys, {kCached, kHeads, dim}), rig.floats(values, {kCached, kHeads, dim}),
                          rig.longs(slots), k_cache, v_cache}));
      const Tensor out = rig.zeros(DType::f32, {rows, kHeads, dim});
      const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
      CHECK_OK(
          ops::paged_attention(rig.encoder(), {.q = rig.floats(queries, {rows, kHeads, dim}),
                                               .k_cache = k_cache,
                                               .v_cache = v_cache,
                                               .sequences = {.cu_seqlens = rig.ints({0, static_cast<int32_t>(rows)}),
                                                             .context_lens = rig.ints({kContext}),
                                                             .block_tables = rig.ints({0}, {1, 1}),
                                                             .state_slots = {}},
                                               .scale = scale,
                                               .out = out,
                                               .is_causal = false}));
      CHECK_OK(rig.finish());
      keys = rig.read(k_cache), values = rig.read(v_cache);  // rounded to the cache's type
      const std::vector<float> result = rig.read(out);
      double worst = 0;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t h = 0; h < kHeads; ++h) {
          std::vector<double> sums(static_cast<size_t>(dim));
          double total = 0;
          for (int64_t p = 0; p < kContext; ++p) {
            double score = 0;
            for (int64_t i = 0; i < dim; ++i)
              score += static_cast<double>(queries[static_cast<size_t>((row * kHeads + h) * dim + i)]) *
                       keys[static_cast<size_t>((p * kHeads + h) * dim + i)];
            const double weight = std::exp(score * scale);
            total += weight;
            for (int64_t i = 0; i < dim; ++i)
              sums[static_cast<size_t>(i)] += weight * values[static_cast<size_t>((p * kHeads + h) * dim + i)];
          }
          for (int64_t i = 0; i < dim; ++i) {
            const double difference = std::abs(sums[static_cast<size_t>(i)] / total -
                                               result[static_cast<size_t>((row * kHeads + h) * dim + i)]);
            if (!(difference <= worst)) worst = difference;
          }
        }
      if (!(worst < (type == DType::f32 ? 2e-5 : 8e-3)))  // bfloats hold queries and weights to 8 bits
        fail(__FILE__, __LINE__, name + " " + text(type) + text({dim, rows}) + ": " + std::to_string(worst));
    }
}
