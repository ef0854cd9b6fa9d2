// Weights in the formats of files: products equal the sums written out here, to the bit, on every code path; memory is
// that of the file.
#include <bit>
#include <cmath>

#include "device/stored/stored_weights.h"
#include "ops/ops.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

#pragma clang fp contract(off)

namespace {

struct IntegerRow {
  std::vector<int> values;
  std::vector<float> scales;  // per 32 columns
};

IntegerRow integers_of(const float* x, int64_t cols) {
  IntegerRow row{std::vector<int>(static_cast<size_t>(cols)), std::vector<float>(static_cast<size_t>(cols / 32))};
  for (int64_t i = 0; i < cols; i += 32) {
    float top = 0;
    for (int64_t k = i; k < i + 32; ++k) top = std::max(top, std::fabs(x[k]));
    for (int64_t k = i; k < i + 32; ++k)
      row.values[static_cast<size_t>(k)] = top > 0 ? static_cast<int>(std::nearbyint(x[k] * (127.0f / top))) : 0;
    row.scales[static_cast<size_t>(i / 32)] = top / 127.0f;
  }
  return row;
}

float product(StoredMatrix& w, int64_t n, const IntegerRow& x) {
  const QuantFormat& f = w.description();
  const StoredRow row = w.row(n);
  const uint8_t* table = f.table == CodeTable::curve ? kCurve : kFloat4;
  float total = 0;
  const int64_t group = std::min(f.group, 32);
  for (int64_t chunk = 0; chunk < w.cols; chunk += 32) {
    float parts = 0;
    for (int64_t begin = chunk; begin < chunk + 32; begin += group) {
      int sum = 0, x_sum = 0;
      for (int64_t i = begin; i < begin + group; ++i) {
        const int value = f.table == CodeTable::none ? row.codes[i] : table[row.codes[i]];
        sum += (value - f.zero) * x.values[static_cast<size_t>(i)];
        x_sum += x.values[static_cast<size_t>(i)];
      }
      const GroupScales s = group_scales(f, row, begin / f.group);
      parts = begin == chunk ? static_cast<float>(sum) * s.scale : std::fma(static_cast<float>(sum), s.scale, parts);
      if (f.has_min) parts = std::fma(s.min, static_cast<float>(x_sum), parts);
    }
    total = std::fma(parts, x.scales[static_cast<size_t>(chunk / 32)], total);
  }
  return total;
}

std::vector<std::string> cpu_paths() {
  std::vector<std::string> names = tested_devices();
  std::erase_if(names, runs_kernels);
  return names;
}

}  // namespace

PAGODA_TEST(stored_products_are_the_integer_sums) {
  const struct {
    int64_t m, n, units;
  } shapes[] = {{1, 1, 1},  {1, 70, 2}, {2, 33, 3},  {3, 16, 1},  {5, 40, 2},
                {6, 17, 3}, {9, 66, 1}, {20, 40, 2}, {37, 20, 2}, {270, 18, 2}};
  for (const std::string& name : cpu_paths())
    for (WeightFormat format : stored_formats())
      for (const auto& s : shapes) {
        if (quant_format(format).table == CodeTable::float8) continue;  // not integers: see float8_test.cpp
        // One format for each kernel: with and without minima, in groups of 32 and of 16.
        constexpr QuantId kLong[] = {QuantId::q4_0, QuantId::q4_1, QuantId::q6_k, QuantId::q2_k};
        if (s.m > 100 && std::ranges::none_of(kLong, [&](QuantId id) { return weight_format(id) == format; })) continue;
        // The type of scales does not affect the loops over rows.
        const QuantFormat& f = quant_format(format);
        if ((f.name.starts_with("affine") || f.name.starts_with("int")) && f.scale != ScaleType::bf16 && s.m != 3)
          continue;
        Rig rig(name);
        Random random(seed(71));
        const int64_t k = s.units * f.unit();
        StoredMatrix w(format, s.n, k, random);
        const auto weight = w.on(rig.device());
        REQUIRE(weight != nullptr);
        const std::vector<float> x = random.normal(s.m * k, 3.0f);
        const Tensor out = rig.zeros(DType::f32, {s.m, s.n});
        CHECK_OK(ops::matmul(rig.encoder(), {rig.floats(x, {s.m, k}), weight.get(), Tensor{}, out}));
        const std::vector<float> got = rig.read(out);
        bool same = true;
        for (int64_t m = 0; m < s.m; ++m) {
          const IntegerRow row = integers_of(x.data() + m * k, k);
          for (int64_t n = 0; n < s.n; ++n)
            same = same && std::bit_cast<uint32_t>(product(w, n, row)) ==
                               std::bit_cast<uint32_t>(got[static_cast<size_t>(m * s.n + n)]);
        }
        if (!same)
          fail(__FILE__, __LINE__,
               name + " " + describe(format) + ", " + std::to_string(s.m) + " rows, " + std::to_string(s.n) + " x " +
                   std::to_string(k) + ": bits differ");
      }
}

// The reference multiplies the numbers that the rows represent; int8 activations are the only difference.
PAGODA_TEST(stored_products_are_near_those_of_the_numbers) {
  constexpr int64_t kM = 3, kN = 20;
  for (WeightFormat format : stored_formats()) {
    Random random(seed(72));
    const int64_t k = 512;
    StoredMatrix w(format, kN, k, random);
    const std::vector<float> x = random.normal(kM * k);
    std::vector<std::vector<float>> results;
    for (const char* name : {"reference", "cpu"}) {
      Rig rig(name);
      const auto weight = w.on(rig.device());
      REQUIRE(weight != nullptr);
      const Tensor out = rig.zeros(DType::f32, {kM, kN});
      CHECK_OK(ops::matmul(rig.encoder(), {rig.floats(x, {kM, k}), weight.get(), Tensor{}, out}));
      results.push_back(rig.read(out));
    }
    double squares = 0, error = 0;
    for (size_t i = 0; i < results[0].size(); ++i) {
      squares += std::pow(results[0][i], 2);
      error += std::pow(results[0][i] - results[1][i], 2);
    }
    if (!(error <= squares * 0.012 * 0.012))
      fail(__FILE__, __LINE__, describe(format) + ": error of " + std::to_string(std::sqrt(error / squares)));
  }
}

PAGODA_TEST(stored_rows_of_a_table_are_read_exactly) {
  for (const std::string& name : cpu_paths())
    for (WeightFormat format : stored_formats()) {
      Rig rig(name);
      Random random(seed(73));
      constexpr int64_t kRows = 35, kCols = 256;
      StoredMatrix w(format, kRows, kCols, random);
      const auto table = w.on(rig.device());
      REQUIRE(table != nullptr);
      const std::vector<int32_t> ids{0, 34, 16, 7};
      const Tensor out = rig.zeros(DType::f32, {4, kCols});
      CHECK_OK(ops::embedding(rig.encoder(), {rig.ints(ids), table.get(), out}));
      const std::vector<float> got = rig.read(out);
      std::vector<float> wanted(kCols);
      for (size_t i = 0; i < ids.size(); ++i) {
        dequantise(w.description(), w.row(ids[i]), kCols, wanted.data());
        CHECK(std::equal(wanted.begin(), wanted.end(), got.begin() + static_cast<int64_t>(i) * kCols));
      }
    }
}

// A matrix of pieces gives the products of its pieces, also where silu(gate) * up reads two of them.
PAGODA_TEST(stored_pieces_are_multiplied_as_one_matrix) {
  constexpr int64_t kM = 5, kCols = 256;
  Random random(seed(74));
  const std::vector<float> x = random.normal(kM * kCols), floats = random.normal(80 * kCols, 0.05f);
  for (const std::string& name : cpu_paths()) {
    Rig rig(name);
    StoredMatrix a(weight_format(QuantId::q4_k), 48, kCols, random), b(weight_format(QuantId::q6_k), 32, kCols, random);
    std::vector<std::unique_ptr<device::Weight>> pieces;
    pieces.push_back(a.on(rig.device()));
    pieces.push_back(b.on(rig.device()));
    device::WeightSource source{"floats", DType::f32, 80, kCols, [&](int64_t begin, int64_t count, std::byte* into) {
                                  std::copy_n(reinterpret_cast<const std::byte*>(floats.data() + begin * kCols),
                                              count * kCols * 4, into);
                                  return ok_status();
                                }};
    auto last = rig.device().make_weight(source, WeightFormat::f32);
    REQUIRE_OK(last);
    pieces.push_back(std::move(*last));
    const Tensor in = rig.floats(x, {kM, kCols}), wanted = rig.zeros(DType::f32, {kM, 160});
    for (size_t i = 0, at = 0; i < 3; at += static_cast<size_t>(pieces[i++]->rows()))
      CHECK_OK(ops::matmul(rig.encoder(), {in, pieces[i].get(), Tensor{},
                                           device::slice(wanted, 1, static_cast<int64_t>(at), pieces[i]->rows())}));
    const std::vector<float> parts = rig.read(wanted);
    auto joined = rig.device().join_weights(std::move(pieces));
    REQUIRE_OK(joined);
    CHECK_EQ((*joined)->rows(), 160);
    const Tensor out = rig.zeros(DType::f32, {kM, 160}), gated = rig.zeros(DType::f32, {kM, 80});
    CHECK_OK(ops::matmul(rig.encoder(), {in, joined->get(), Tensor{}, out}));
    CHECK(rig.read(out) == parts);
    CHECK_OK(ops::matmul(rig.encoder(), {in, joined->get(), Tensor{}, gated, true}));
    const std::vector<float> got = rig.read(gated);
    for (size_t m = 0; m < kM; ++m)
      for (size_t n = 0; n < 80; ++n) {
        const double gate = parts[m * 160 + n], silu = gate / (1 + std::exp(-gate)) * parts[m * 160 + 80 + n];
        CHECK(std::fabs(got[m * 80 + n] - silu) <= 1e-4 * (1 + std::fabs(silu)));
      }
  }
}

PAGODA_TEST(stored_weights_take_the_memory_of_their_file) {
  const struct {
    QuantId id;
    double bytes;  // per 256 columns in a GGUF file
  } kFiles[] = {{QuantId::q4_0, 144}, {QuantId::q4_1, 160}, {QuantId::q5_0, 176},   {QuantId::q5_1, 192},
                {QuantId::q8_0, 272}, {QuantId::q2_k, 84},  {QuantId::q3_k, 110},   {QuantId::q4_k, 144},
                {QuantId::q5_k, 176}, {QuantId::q6_k, 210}, {QuantId::iq4_nl, 144}, {QuantId::iq4_xs, 136},
                {QuantId::mxfp4, 136}};
  Rig rig("cpu");
  for (const auto& file : kFiles) {
    const auto bytes = static_cast<double>(rig.device().weight_bytes(1024, 4096, weight_format(file.id)));
    const double in_file = file.bytes * 1024 * 16;
    if (!(bytes <= in_file * 1.05 && bytes >= in_file * 0.999))
      fail(__FILE__, __LINE__, describe(weight_format(file.id)) + ": " + std::to_string(bytes / in_file));
    Random random(seed(75));
    StoredMatrix w(weight_format(file.id), 20, 512, random);
    const auto weight = w.on(rig.device());
    REQUIRE(weight != nullptr);
    CHECK_EQ(weight->size_bytes(), rig.device().weight_bytes(20, 512, w.format));
  }
}

PAGODA_TEST(stored_weights_of_broken_groups_are_refused) {
  Rig rig("cpu");
  Random random(seed(76));
  StoredMatrix w(weight_format(QuantId::q4_k), 4, 256, random);
  device::WeightSource source{"blk.0.odd", DType::f32, 4, 250, nullptr};
  source.read_stored = [](int64_t, int64_t, std::span<std::byte>) { return ok_status(); };
  const auto refused = rig.device().make_weight(source, w.format);
  CHECK(refused.status.code == StatusCode::bad_file);
  CHECK(refused.status.message.find("blk.0.odd") != std::string::npos);
  source.cols = 256;
  source.read_stored = [](int64_t begin, int64_t, std::span<std::byte>) {
    return begin == 0 ? make_error(StatusCode::bad_file, "the file ends early") : ok_status();
  };
  CHECK_EQ(rig.device().make_weight(source, w.format).status.message, std::string("the file ends early"));
}
