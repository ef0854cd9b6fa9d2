// The ops of hyper-connections on every device that has them: close to the reference, and refusals.
#include <cmath>

#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::slice;
using device::Tensor;

namespace {

constexpr Tolerance kSums{2e-5, 5e-5};  // a sigmoid of a sum of up to 600 products

// A row's tensors are parts of wider rows, as in a model.
Tensor part(Rig& rig, Random& random, int64_t rows, int64_t width) {
  return slice(rig.floats(random.normal(rows * (width + 5)), {rows, width + 5}), 1, 2, width);
}

std::vector<float> read(Rig& rig, const Tensor& rows) {
  std::vector<float> all = rig.read(device::dense(rows.buffer, rows.dtype, {rows.shape[0] * rows.strides[0]})), wanted;
  for (int64_t t = 0; t < rows.shape[0]; ++t) {
    const auto first = all.begin() + t * rows.strides[0] + rows.offset_bytes / 4;
    wanted.insert(wanted.end(), first, first + rows.shape[1]);
  }
  return wanted;
}

}  // namespace

PAGODA_TEST(conformance_streams) {
  const struct {
    int64_t rows, streams, width;
  } shapes[] = {{1, 2, 8}, {5, 4, 32}, {19, 3, 70}, {3, 4, 600}, {40, 2, 1}};
  for (const auto& s : shapes)
    compare(
        "streams" + text({s.rows, s.streams, s.width}), kSums,
        [&](Rig& rig, Random& random) -> Outputs {
          const int64_t all = s.streams * s.width;
          const Tensor x = part(rig, random, s.rows, all), gates = part(rig, random, s.rows, all);
          const Tensor streams = part(rig, random, s.rows, all), gated = part(rig, random, s.rows, all);
          const Tensor weights = part(rig, random, s.rows, s.streams), mixed = part(rig, random, s.rows, s.width);
          const Tensor value = part(rig, random, s.rows, s.width);
          CHECK_OK(ops::gate_streams(rig.encoder(), {.keys = x, .queries = gates, .values = value, .out = gated}));
          CHECK_OK(ops::mix_streams(rig.encoder(), {.x = x, .gates = gates, .out = mixed}));
          CHECK_OK(
              ops::inject_streams(rig.encoder(), {.x = mixed, .weights = weights, .factor = 0.3f, .streams = streams}));
          CHECK_OK(ops::silu_rows(rig.encoder(), {.x = gates, .factor = 0.25f}));
          CHECK_OK(rig.finish());
          return {read(rig, gated), read(rig, mixed), read(rig, streams), read(rig, gates)};
        },
        Devices::without_kernels);
}

// The gate of keys and queries that are orthogonal is 1/2, and that of a product near 0 is not far from it.
PAGODA_TEST(conformance_streams_with_gates_near_zero) {
  compare(
      "gate_streams near zero", kSums,
      [&](Rig& rig, Random&) -> Outputs {
        const Tensor keys = rig.floats({0, 0, 1e-9f, 0, -1e-9f, 0}, {1, 6}),
                     queries = rig.floats({1, 1, 1, 1, 1, 1}, {1, 6});
        const Tensor values = rig.floats({2, -4}, {1, 2}), out = rig.zeros(DType::f32, {1, 6});
        CHECK_OK(ops::gate_streams(rig.encoder(), {.keys = keys, .queries = queries, .values = values, .out = out}));
        CHECK_OK(rig.finish());
        const std::vector<float> got = rig.read(out);
        CHECK(got[0] == 1.0f && got[1] == -2.0f && got[2] > 1.0f && got[4] < 1.0f);
        return {got};
      },
      Devices::without_kernels);
}

// Alone or with others, on one thread or more.
PAGODA_TEST(invariance_streams_bits_do_not_depend_on_rows) {
  for (const std::string& name : tested_devices()) {
    if (runs_kernels(name)) continue;
    Random random(seed(3));
    constexpr int64_t kRows = 150, kStreams = 4, kWidth = 200, kAll = kStreams * kWidth;
    const std::vector<float> x = random.normal(kRows * kAll), gates = random.normal(kRows * kAll);
    const auto run = [&](int64_t first, int64_t rows, int threads) {
      Rig rig(name, threads);
      const auto rows_of = [&](const std::vector<float>& all) {
        return rig.floats({all.begin() + first * kAll, all.begin() + (first + rows) * kAll}, {rows, kAll});
      };
      const Tensor streams = rows_of(gates), normed = rows_of(x), out = rig.zeros(DType::f32, {rows, kAll});
      const Tensor mixed = rig.zeros(DType::f32, {rows, kWidth});
      CHECK_OK(ops::mix_streams(rig.encoder(), {.x = normed, .gates = streams, .out = mixed}));
      CHECK_OK(ops::gate_streams(rig.encoder(), {.keys = normed, .queries = streams, .values = mixed, .out = out}));
      CHECK_OK(ops::inject_streams(
          rig.encoder(), {.x = mixed, .weights = slice(normed, 1, 0, kStreams), .factor = 0.25f, .streams = out}));
      CHECK_OK(ops::silu_rows(rig.encoder(), {.x = out, .factor = 0.25f}));
      CHECK_OK(rig.finish());
      return rig.bytes(out);
    };
    const auto whole = run(0, kRows, 1);
    CHECK(run(0, kRows, 4) == whole);
    const size_t row = whole.size() / kRows;
    for (const int64_t first : {0, 77, 149}) {
      const auto alone = run(first, 1, 2);
      CHECK(std::equal(alone.begin(), alone.end(), whole.begin() + static_cast<std::ptrdiff_t>(row) * first));
    }
  }
}

PAGODA_TEST(ops_streams_check_shapes) {
  for (const std::string& name : tested_devices()) {
    if (runs_kernels(name)) continue;
    Rig rig(name);
    const auto f = [&](int64_t rows, int64_t cols) { return rig.zeros(DType::f32, {rows, cols}); };
    device::Encoder& encoder = rig.encoder();
    const Status wrong[] = {
        ops::silu_rows(encoder, {.x = rig.zeros(DType::i32, {2, 3})}),
        ops::mix_streams(encoder, {.x = f(2, 7), .gates = f(2, 7), .out = f(2, 3)}),
        ops::mix_streams(encoder, {.x = f(2, 6), .gates = f(2, 3), .out = f(2, 3)}),
        ops::inject_streams(encoder, {.x = f(2, 3), .weights = f(2, 2), .streams = f(2, 9)}),
        ops::inject_streams(encoder, {.x = f(2, 3), .weights = f(1, 2), .streams = f(2, 6)}),
        ops::gate_streams(encoder, {.keys = f(2, 6), .queries = f(2, 3), .values = f(2, 3), .out = f(2, 6)}),
        ops::gate_streams(encoder, {.keys = f(2, 6), .queries = f(2, 6), .values = f(2, 3), .out = f(2, 3)})};
    for (const Status& status : wrong) CHECK(!status.is_ok());
    CHECK_OK(rig.finish());
  }
}
