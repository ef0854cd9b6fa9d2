// The conformance table: the ops of vision towers, on the devices that have them.
#include <cmath>

#include "device/conformance.h"
#include "ops/ops.h"
#include "ops/vision.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

// A device without the op refuses it by name; the towers of its models run on the CPU.
bool is_refused(const Status& status) {
  if (status.code != StatusCode::unsupported) return false;
  CHECK(status.message.find("this device has no ") == 0);
  return true;
}

}  // namespace

PAGODA_TEST(conformance_layer_norm) {
  for (const std::string& name : selected_devices())
    for (const bool has_residual : {false, true})
      for (const int64_t width : {1, 20, 72, 300}) {
        Random random(static_cast<uint64_t>(width));
        Rig rig(name);
        REQUIRE(rig.is_ok());
        std::vector<float> values = random.normal(3 * width);
        for (float& value : values) value += 2.0f;  // a mean far from 0
        const std::vector<float> residual = random.normal(3 * width), weight = random.normal(width),
                                 bias = random.normal(width);
        const Tensor x = rig.floats(values, {3, width}), out = rig.zeros(DType::f32, {3, width});
        const Tensor added = has_residual ? rig.floats(residual, {3, width}) : Tensor{};
        const Status status = ops::layer_norm(rig.encoder(), {.x = x,
                                                              .residual = added,
                                                              .weight = rig.floats(weight, {width}),
                                                              .bias = rig.floats(bias, {width}),
                                                              .out = out});
        if (is_refused(status)) continue;
        CHECK_OK(status);
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
      const std::vector<float> values = {-90, -4, -1, -0.3f, 0, 1e-4f, 0.5f, 1, 3, 90};
      const Tensor x = rig.floats(values, {2, 5});
      const Status status = ops::gelu(rig.encoder(), {.x = x, .is_exact = is_exact});
      if (is_refused(status)) continue;
      CHECK_OK(status);
      CHECK_OK(rig.finish());
      const std::vector<float> result = rig.read(x);
      for (size_t i = 0; i < values.size(); ++i) {
        const double v = values[i], cubic = std::sqrt(2 / 3.14159265358979) * (v + 0.044715 * v * v * v);
        const double wanted = 0.5 * v * (1 + (is_exact ? std::erf(v / std::sqrt(2.0)) : std::tanh(cubic)));
        CHECK(std::abs(result[i] - wanted) <= 2e-6 * (1 + std::abs(wanted)));
      }
    }
}

// Every row attends to all positions: the last rows of a sequence, of which more positions follow none, and the first.
PAGODA_TEST(conformance_full_attention) {
  constexpr int64_t kRows = 5, kContext = 301, kHeads = 3;
  for (const std::string& name : selected_devices())
    for (const int64_t dim : {20, 64, 72}) {
      Random random(static_cast<uint64_t>(dim));
      Rig rig(name);
      REQUIRE(rig.is_ok());
      const std::vector<float> queries = random.normal(kRows * kHeads * dim),
                               keys = random.normal(kContext * kHeads * dim),
                               values = random.normal(kContext * kHeads * dim);
      const Tensor out = rig.zeros(DType::f32, {kRows, kHeads, dim});
      const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
      const Status status =
          ops::paged_attention(rig.encoder(), {.q = rig.floats(queries, {kRows, kHeads, dim}),
                                               .k_cache = rig.floats(keys, {1, kContext, kHeads, dim}),
                                               .v_cache = rig.floats(values, {1, kContext, kHeads, dim}),
                                               .sequences = {.cu_seqlens = rig.ints({0, kRows}),
                                                             .context_lens = rig.ints({kContext}),
                                                             .block_tables = rig.ints({0}, {1, 1}),
                                                             .state_slots = {}},
                                               .scale = scale,
                                               .out = out,
                                               .is_causal = false});
      if (is_refused(status)) continue;
      CHECK_OK(status);
      CHECK_OK(rig.finish());
      const std::vector<float> result = rig.read(out);
      double worst = 0;
      for (int64_t row = 0; row < kRows; ++row)
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
          for (int64_t i = 0; i < dim; ++i)
            worst = std::max(worst, std::abs(sums[static_cast<size_t>(i)] / total -
                                             result[static_cast<size_t>((row * kHeads + h) * dim + i)]));
        }
      CHECK(worst < 2e-5);
    }
}
