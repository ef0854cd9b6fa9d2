// kda on every device that has it: close to the reference, the same bits for any split into steps, and refusals.
#include <cmath>

#include "device/conformance.h"
#include "device/stream.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

struct KdaPools {
  Tensor state, k_rows, u_rows, g_rows;

  KdaPools(Rig& rig, int64_t slots, int64_t heads, int64_t dk, int64_t dv)
      : state(rig.zeros(DType::f32, {slots, heads, dk, dv})),
        k_rows(rig.zeros(DType::f32, {slots, heads, 16, dk})),
        u_rows(rig.zeros(DType::f32, {slots, heads, 16, dv})),
        g_rows(rig.zeros(DType::f32, {slots, heads, 16, dk})) {}
  std::array<Tensor, 4> all() const { return {state, k_rows, u_rows, g_rows}; }
};

// `qkva` is [T, q | k | v | a], as in a layer.
device::KdaArgs args_of(const Tensor& qkva, const Tensor& b, const Tensor& a_log, const Tensor& dt_bias,
                        const device::SequenceArgs& sequences, const KdaPools& pools, const Tensor& out) {
  const int64_t heads = dt_bias.shape[0], dk = dt_bias.shape[1], dv = out.shape[2], keys = heads * dk;
  const auto part = [&](int64_t first, int64_t dim) {
    return device::split_last(device::slice(qkva, 1, first, heads * dim), heads, dim);
  };
  return {part(0, dk),
          part(keys, dk),
          part(2 * keys, dv),
          part(2 * keys + heads * dv, dk),
          b,
          a_log,
          dt_bias,
          sequences,
          pools.state,
          pools.k_rows,
          pools.u_rows,
          pools.g_rows,
          out};
}

class KdaStream final : public Stream {
 public:
  KdaStream(const std::string& device, int threads, int64_t dk, int64_t dv)
      : rig_(device, threads), dk_(dk), dv_(dv), pools_(rig_, 3, kHeads, dk, dv) {
    Random random(61);
    qkva_ = random.normal(kTokens * width());
    b_ = random.normal(kTokens * kHeads);
    a_log_ = rig_.floats(random.normal(kHeads), {kHeads});
    dt_bias_ = rig_.floats(std::vector<float>(kHeads * dk, -3.0f), {kHeads, dk});
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    const Tensor qkva = rows_with_neighbour(rig_, noise_, qkva_, width(), begin, count, neighbour, num_wrong);
    const Tensor b = rows_with_neighbour(rig_, noise_, b_, kHeads, begin, count, neighbour, num_wrong);
    const Tensor out = rig_.zeros(DType::f32, {neighbour + count, kHeads, dv_});
    const auto sequences = sequences_at_slot_2(rig_, batch_of(begin, count, neighbour), 16, 8);
    CHECK_OK(ops::kda(rig_.encoder(), args_of(qkva, b, a_log_, dt_bias_, sequences, pools_, out)));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, neighbour + count);
  }
  Bytes state() override {
    Bytes all;
    for (const Tensor& t : pools_.all()) {
      const Bytes part = slot_2(rig_, t);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  static constexpr int64_t kHeads = 3;
  int64_t width() const { return kHeads * (3 * dk_ + dv_); }
  Rig rig_;
  Random noise_{62};
  int64_t dk_, dv_;
  KdaPools pools_;
  std::vector<float> qkva_, b_;
  Tensor a_log_, dt_bias_;
};

// Biases from slow decays, where old rows matter, to one that erases the state.
std::vector<float> biases(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 7 == 6 ? 40.0f : -6.0f + static_cast<float>(i % 5);
  return values;
}

}  // namespace

PAGODA_TEST(conformance_kda) {
  const struct {
    int64_t heads, dk, dv;
  } rows[] = {{1, 8, 8}, {3, 24, 24}, {2, 16, 16}, {2, 5, 70}, {2, 128, 128}, {1, 256, 32}, {1, 200, 20}};
  const Batch first{{0, 0, 0, 0}, {5, 15, 16, 40}}, second{{5, 15, 16, 40}, {1, 3, 17, 9}}, spoiling{{0}, {192}};
  for (const auto& row : rows)
    compare("kda" + text({row.heads, row.dk, row.dv}), kRecurrent, [&](Rig& rig, Random& random) -> Outputs {
      const KdaPools pools(rig, 5, row.heads, row.dk, row.dv);
      const Tensor a_log = rig.floats(random.normal(row.heads), {row.heads});
      const Tensor dt_bias = rig.floats(biases(row.heads * row.dk), {row.heads, row.dk});
      Outputs outputs;
      for (const Batch* batch : {&spoiling, &first, &second}) {
        const bool spoils = batch == &spoiling;  // none of its NaNs may affect later steps
        const int64_t t = batch->num_rows(), width = row.heads * (3 * row.dk + row.dv);
        const Tensor qkva = rig.floats(random.normal(t * width, spoils ? std::nanf("") : 1.0f), {t, width});
        const Tensor b = rig.floats(random.normal(t * row.heads), {t, row.heads});
        const Tensor out = rig.zeros(DType::f32, {t, row.heads, row.dv});
        CHECK_OK(
            ops::kda(rig.encoder(), args_of(qkva, b, a_log, dt_bias, make_sequences(rig, *batch, 16, 12), pools, out)));
        CHECK_OK(rig.finish());
        for (const Tensor& pool : pools.all())
          if (spoils) CHECK_OK(ops::zero_slots(rig.encoder(), {pool, rig.ints({1})}));
          else outputs.push_back(rig.read(pool));
        if (!spoils) outputs.push_back(rig.read(out));
      }
      return outputs;
    });
}

PAGODA_TEST(invariance_kda_bits_do_not_depend_on_chunks) {
  for (const auto& [dk, dv] : {std::pair<int64_t, int64_t>{8, 8}, {24, 40}, {128, 32}, {136, 16}})
    check_stream("kda " + std::to_string(dk), [dk = dk, dv = dv](const std::string& name, int threads) {
      return std::make_unique<KdaStream>(name, threads, dk, dv);
    });
}

PAGODA_TEST(invariance_rows_of_kda_can_be_taken_back) {
  check_taking_back(
      "kda", [](const std::string& name, int threads) { return std::make_unique<KdaStream>(name, threads, 24, 40); });
}

PAGODA_TEST(invariance_fused_paths_give_the_same_bits_of_kda) {
  std::vector<std::string> fused = tested_devices();
  std::erase_if(fused, [](const std::string& name) { return name == "cpu:portable" || runs_kernels(name); });
  Bytes first;
  for (const std::string& name : fused) {
    KdaStream stream(name, 2, 40, 72);
    const Bytes got = run(stream, Chunks::random, 0, 6);
    if (first.empty()) first = got;
    if (got != first) fail(__FILE__, __LINE__, name + " differs from " + fused[0]);
  }
}

PAGODA_TEST(ops_kda_checks_shapes_and_slots) {
  for (const std::string& name : tested_devices()) {
    Rig rig(name);
    const auto f = [&](std::initializer_list<int64_t> shape) { return rig.zeros(DType::f32, shape); };
    const Batch batch{{0, 0}, {1, 2}};
    const device::KdaArgs good{f({3, 2, 8}),    f({3, 2, 8}),     f({3, 2, 6}),     f({3, 2, 8}),
                               f({3, 2}),       f({2}),           f({2, 8}),        make_sequences(rig, batch, 16, 2),
                               f({3, 2, 8, 6}), f({3, 2, 16, 8}), f({3, 2, 16, 6}), f({3, 2, 16, 8}),
                               f({3, 2, 6})};
    CHECK_OK(ops::kda(rig.encoder(), good));
    CHECK_OK(rig.finish());
    const struct {
      const char* name;
      Tensor device::KdaArgs::* field;
      Tensor wrong;
    } rows[] = {{"k", &device::KdaArgs::k, f({3, 2, 7})},
                {"v", &device::KdaArgs::v, f({3, 4, 6})},
                {"a", &device::KdaArgs::a, f({3, 2, 6})},
                {"b", &device::KdaArgs::b, f({2, 2})},
                {"a_log", &device::KdaArgs::a_log, f({3})},
                {"dt_bias", &device::KdaArgs::dt_bias, f({2, 6})},
                {"state", &device::KdaArgs::state, f({3, 2, 6, 8})},
                {"k_rows", &device::KdaArgs::k_rows, f({3, 2, 16, 6})},
                {"u_rows", &device::KdaArgs::u_rows, f({3, 2, 8, 6})},
                {"g_rows", &device::KdaArgs::g_rows, f({3, 2, 16, 6})},
                {"out", &device::KdaArgs::out, f({3, 2, 8})}};
    for (const auto& row : rows) {
      device::KdaArgs args = good;
      args.*row.field = row.wrong;
      const Status status = ops::kda(rig.encoder(), args);
      CHECK(!status.is_ok() && status.message.find(std::string("kda: ") + row.name) != std::string::npos);
    }
    device::KdaArgs outside = good;
    outside.state = f({1, 2, 8, 6});
    outside.k_rows = outside.g_rows = f({1, 2, 16, 8});
    outside.u_rows = f({1, 2, 16, 6});
    CHECK_OK(ops::kda(rig.encoder(), outside));
    if (name.starts_with("cpu") || name == "reference") CHECK(!rig.finish().is_ok());
  }
}
