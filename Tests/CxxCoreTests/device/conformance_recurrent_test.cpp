// The conformance table: the ops of recurrent layers.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

PAGODA_TEST(conformance_causal_conv1d) {
  const Batch batch{{0, 9, 3, 1}, {5, 1, 2, 3}};
  for (int64_t kernel : {2, 4, 8})
    for (int64_t channels : {5, 40, 300})
      compare("causal_conv1d" + text({kernel, channels}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
        const int64_t t = batch.num_rows(), ring = channels == 40 ? kernel - 1 : kernel + 3;
        const Tensor x = rig.floats(random.normal(t * channels), {t, channels}),
                     out = rig.zeros(DType::f32, {t, channels});
        const Tensor tail = rig.floats(random.normal(6 * ring * channels), {6, ring, channels});
        CHECK_OK(ops::causal_conv1d(rig.encoder(), {x, rig.floats(random.normal(channels * kernel), {kernel, channels}),
                                                    tail, make_sequences(rig, batch, 16, 4), out}));
        CHECK_OK(rig.finish());
        return {rig.read(out), rig.read(tail)};
      });
}

PAGODA_TEST(conformance_gdn) {
  const struct {
    int64_t k_heads, v_heads, dk, dv;
    float beta_scale = 1.0f;
    DType state = DType::f32;
  } rows[] = {{1, 1, 8, 8},
              {2, 4, 24, 40},
              {2, 2, 16, 16},
              {1, 3, 5, 70},
              {1, 2, 128, 128},
              {1, 1, 256, 32},
              {1, 1, 200, 20, 2.0f},
              {2, 2, 96, 192, 2.0f},
              {2, 4, 24, 40, 1.0f, DType::bf16},
              {1, 3, 5, 70, 1.0f, DType::bf16},
              {1, 2, 128, 128, 1.0f, DType::bf16},
              {1, 1, 200, 20, 2.0f, DType::bf16},
              {2, 40, 24, 40}};  // two columns per lane on GPUs
  const Batch first{{0, 0, 0, 0}, {5, 15, 16, 40}}, second{{5, 15, 16, 40}, {1, 3, 17, 9}}, spoiling{{0}, {192}};
  for (const auto& row : rows)
    compare("gdn" + text({row.k_heads, row.v_heads, row.dk, row.dv}) + " " + text(row.state), recurrent_over(row.state),
            [&](Rig& rig, Random& random) -> Outputs {
              const Tensor state = rig.zeros(row.state, {5, row.v_heads, row.dk, row.dv});
              const Tensor k_rows = rig.zeros(DType::f32, {5, row.k_heads, 16, row.dk}),
                           u_rows = rig.zeros(DType::f32, {5, row.v_heads, 16, row.dv});
              const Tensor g_rows = rig.zeros(DType::f32, {5, row.v_heads, 16});
              const Tensor a_log = rig.floats(random.normal(row.v_heads), {row.v_heads});
              const Tensor dt_bias =
                  rig.floats(std::vector<float>(row.v_heads, -4.0f), {row.v_heads});  // slow decay: old rows matter
              Outputs outputs;
              for (const Batch* batch : {&spoiling, &first, &second}) {
                const bool spoils = batch == &spoiling;  // none of its NaNs may affect later steps
                const int64_t t = batch->num_rows(), keys = row.k_heads * row.dk, values = row.v_heads * row.dv;
                // q, k and v are adjacent in a row, as the convolution writes them.
                const Tensor qkv = rig.floats(random.normal(t * (2 * keys + values), spoils ? std::nanf("") : 1.0f),
                                              {t, 2 * keys + values});
                const Tensor out = rig.zeros(DType::f32, {t, row.v_heads, row.dv});
                CHECK_OK(ops::gdn(
                    rig.encoder(),
                    {device::split_last(device::slice(qkv, 1, 0, keys), row.k_heads, row.dk),
                     device::split_last(device::slice(qkv, 1, keys, keys), row.k_heads, row.dk),
                     device::split_last(device::slice(qkv, 1, 2 * keys, values), row.v_heads, row.dv),
                     rig.floats(random.normal(t * row.v_heads, 2.0f), {t, row.v_heads}),
                     rig.floats(random.normal(t * row.v_heads), {t, row.v_heads}), a_log, dt_bias,
                     make_sequences(rig, *batch, 16, 12), state, k_rows, u_rows, g_rows, out, row.beta_scale}));
                CHECK_OK(rig.finish());
                for (const Tensor& pool : {state, k_rows, u_rows, g_rows})
                  if (spoils) CHECK_OK(ops::zero_slots(rig.encoder(), {pool, rig.ints({1})}));
                  else outputs.push_back(rig.read(pool));
                if (!spoils) outputs.push_back(rig.read(out));
              }
              return outputs;
            });
}

// Blocks of 16 tokens: the first writes a state, the others only let it decay, by e^-80 and e^-10.
PAGODA_TEST(gdn_keeps_no_denormals_on_a_cpu) {
  constexpr int64_t kHeads = 2, kDim = 32, kRows = 16;
  for (const std::string& name : tested_devices()) {
    if (!name.starts_with("cpu")) continue;
    Rig rig(name);
    REQUIRE(rig.is_ok());
    Random random(test::seed(91));
    const Tensor state = rig.zeros(DType::f32, {2, kHeads, kDim, kDim});
    const Tensor k_rows = rig.zeros(DType::f32, {2, kHeads, 16, kDim}),
                 u_rows = rig.zeros(DType::f32, {2, kHeads, 16, kDim});
    const Tensor g_rows = rig.zeros(DType::f32, {2, kHeads, 16}), gate = rig.zeros(DType::f32, {kHeads});
    const auto run = [&](int64_t cached, float a, float b) {
      const auto rows = [&] { return rig.floats(random.normal(kRows * kHeads * kDim), {kRows, kHeads, kDim}); };
      const auto all = [&](float value) {
        return rig.floats(std::vector<float>(kRows * kHeads, value), {kRows, kHeads});
      };
      CHECK_OK(ops::gdn(rig.encoder(), {rows(), rows(), rows(), all(a), all(b), gate, gate,
                                        make_sequences(rig, {{cached}, {kRows}}, 16, 4), state, k_rows, u_rows, g_rows,
                                        rig.zeros(DType::f32, {kRows, kHeads, kDim})}));
      CHECK_OK(rig.finish());
      return rig.read(state);
    };
    const auto is_normal = [](float value) { return std::isnormal(value); };
    run(0, 0.0f, 0.0f);
    CHECK(std::ranges::any_of(run(16, 4.9932f, -200.0f), is_normal));
    CHECK(std::ranges::all_of(run(32, -0.1422f, -200.0f), [](float value) { return value == 0.0f; }));
  }
}
