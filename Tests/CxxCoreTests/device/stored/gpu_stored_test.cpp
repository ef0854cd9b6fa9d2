// Weights in the formats of files on devices that run the kernels of Shaders/: products are those of the numbers in the
// file, with the same bits for any number of rows; memory is that of the file.
#include <algorithm>
#include <cmath>

#include "device/stored/stored_weights.h"
#include "ops/ops.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

std::vector<std::string> kernel_devices() {
  std::vector<std::string> names = tested_devices();
  std::erase_if(names, [](const std::string& name) { return !runs_kernels(name); });
  return names;
}

std::vector<WeightFormat> kept_formats(const device::Device& device) {
  std::vector<WeightFormat> formats = stored_formats();
  std::erase_if(formats, [&](WeightFormat format) { return !device.keeps_format(format); });
  return formats;
}

// Activations that 16 bits hold, so that they are not rounded.
std::vector<float> bfloats(Random& random, int64_t count) {
  std::vector<float> values = random.normal(count);
  for (float& value : values) value = bf16_to_f32(f32_to_bf16(value));
  return values;
}

struct Sum {
  double value = 0, magnitude = 0;
};
Sum product(StoredMatrix& w, int64_t n, const float* x) {
  std::vector<float> numbers(static_cast<size_t>(w.cols));
  dequantise(w.description(), w.row(n), w.cols, numbers.data());
  Sum sum;
  for (size_t i = 0; i < numbers.size(); ++i) {
    sum.value += double{numbers[i]} * x[i];
    // Terms of a format with minima are larger than their sum.
    sum.magnitude += std::fabs(double{numbers[i]} * x[i]);
  }
  const GroupScales s = group_scales(w.description(), w.row(n), 0);
  sum.magnitude += std::fabs(s.min) * static_cast<double>(w.cols);
  return sum;
}

void check_products(const std::string& name, WeightFormat format, int64_t m, int64_t n, int64_t k) {
  Rig rig(name);
  Random random(seed(81));
  StoredMatrix w(format, n, k, random);
  const auto weight = w.on(rig.device());
  REQUIRE(weight != nullptr);
  CHECK_EQ(weight->size_bytes(), rig.device().weight_bytes(n, k, format));
  const std::vector<float> x = bfloats(random, m * k);
  const Tensor out = rig.zeros(DType::f32, {m, n});
  CHECK_OK(ops::matmul(rig.encoder(), {rig.floats(x, {m, k}), weight.get(), Tensor{}, out}));
  const std::vector<float> got = rig.read(out);
  double worst = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const Sum wanted = product(w, j, x.data() + i * k);
      const double error = std::fabs(got[static_cast<size_t>(i * n + j)] - wanted.value) / wanted.magnitude;
      worst = std::max(worst, std::isnan(error) ? 1.0 : error);
    }
  if (worst > 1e-6)
    fail(__FILE__, __LINE__,
         name + " " + describe(format) + ", " + std::to_string(m) + " rows, " + std::to_string(n) + " x " +
             std::to_string(k) + ": error of " + std::to_string(worst));
}

}  // namespace

PAGODA_TEST(gpu_stored_products_are_those_of_the_numbers) {
  for (const std::string& name : kernel_devices()) {
    for (const WeightFormat format : kept_formats(Rig(name).device()))
      check_products(name, format, 2, 20, quant_format(format).unit() == 32 ? 96 : 256);
    for (const WeightFormat format : few_formats())
      for (const int64_t m : {1, 9, 20, 40, 70}) check_products(name, format, m, m == 1 ? 70 : 18, 768);
  }
}

// One row by itself, among up to 64 and among more: each is another kernel.
PAGODA_TEST(gpu_stored_bits_do_not_depend_on_other_rows) {
  constexpr int64_t kRows = 70, kN = 34, kCols = 768;
  for (const std::string& name : kernel_devices())
    for (const WeightFormat format : few_formats()) {
      Rig rig(name);
      Random random(seed(82));
      StoredMatrix w(format, kN, kCols, random);
      const auto weight = w.on(rig.device());
      REQUIRE(weight != nullptr);
      const std::vector<float> x = random.normal(kRows * kCols);
      const Tensor in = rig.floats(x, {kRows, kCols});
      std::vector<float> all;
      for (const int64_t m : {int64_t{70}, int64_t{33}, int64_t{12}, int64_t{9}, int64_t{3}, int64_t{1}}) {
        const Tensor out = rig.zeros(DType::f32, {m, kN}), gated = rig.zeros(DType::f32, {m, kN / 2});
        const Tensor last = device::slice(in, 0, kRows - m, m);
        CHECK_OK(ops::matmul(rig.encoder(), {last, weight.get(), Tensor{}, out}));
        CHECK_OK(ops::matmul(rig.encoder(), {last, weight.get(), Tensor{}, gated, true}));
        std::vector<float> got = rig.read(out);
        const std::vector<float> more = rig.read(gated);
        for (int64_t row = 0; row < m; ++row) {  // from the last on, so that all have it
          if (all.empty()) all.resize(static_cast<size_t>(kRows * kN * 2));
          for (int64_t n = 0; n < kN; ++n) {
            float& known = all[static_cast<size_t>(((kRows - m + row) * kN + n) * 2)];
            if (m == kRows) known = got[static_cast<size_t>(row * kN + n)];
            CHECK(known == got[static_cast<size_t>(row * kN + n)]);
          }
          for (int64_t n = 0; n < kN / 2; ++n) {
            float& known = all[static_cast<size_t>(((kRows - m + row) * kN + n) * 2 + 1)];
            if (m == kRows) known = more[static_cast<size_t>(row * (kN / 2) + n)];
            CHECK(known == more[static_cast<size_t>(row * (kN / 2) + n)]);
          }
        }
        if (failed()) return note(name + " " + describe(format) + ", " + std::to_string(m) + " rows");
      }
    }
}

// Few rows per expert and many are different kernels; both give the bits of a product with that expert alone.
PAGODA_TEST(gpu_stored_expert_products_are_those_of_each_expert) {
  constexpr int64_t kExperts = 3, kN = 32, kCols = 256, kEach = 2;
  for (const std::string& name : kernel_devices())
    for (const WeightFormat format : few_formats())
      for (const int64_t tokens : {5, 40})
        for (const bool silu_mul : {false, true}) {
          Rig rig(name);
          Random random(seed(83));
          StoredMatrix w(format, kExperts * kN, kCols, random);
          const auto weight = w.on(rig.device());
          REQUIRE(weight != nullptr);
          const Tensor x = rig.floats(random.normal(tokens * kCols), {tokens, kCols});
          std::vector<int32_t> ids;
          for (int64_t t = 0; t < tokens; ++t) {
            ids.push_back(static_cast<int32_t>(random.below(kExperts)));
            ids.push_back((ids.back() + 1) % static_cast<int32_t>(kExperts));
          }
          const int64_t width = silu_mul ? kN / 2 : kN;
          const Tensor out = rig.zeros(DType::f32, {tokens * kEach, width});
          CHECK_OK(ops::expert_matmul(rig.encoder(),
                                      {x, weight.get(), kExperts, rig.ints(ids, {tokens, kEach}), out, silu_mul}));
          const std::vector<float> got = rig.read(out);
          for (int64_t e = 0; e < kExperts; ++e) {
            StoredMatrix one(format, kN, kCols, random);
            const auto first = w.bytes.begin() + e * kN * static_cast<int64_t>(w.row_bytes());
            std::copy_n(first, one.bytes.size(), one.bytes.begin());
            const auto alone = one.on(rig.device());
            const Tensor each = rig.zeros(DType::f32, {tokens, width});
            CHECK_OK(ops::matmul(rig.encoder(), {x, alone.get(), Tensor{}, each, silu_mul}));
            const std::vector<float> wanted = rig.read(each);
            for (size_t i = 0; i < ids.size(); ++i)
              if (ids[i] == e)
                CHECK(std::equal(got.begin() + static_cast<int64_t>(i) * width,
                                 got.begin() + static_cast<int64_t>(i + 1) * width,
                                 wanted.begin() + static_cast<int64_t>(i / kEach) * width));
          }
          if (failed()) return note(name + " " + describe(format) + ", " + std::to_string(tokens) + " tokens");
        }
}

PAGODA_TEST(gpu_stored_rows_of_a_table_are_read_exactly) {
  for (const std::string& name : kernel_devices())
    for (const WeightFormat format : kept_formats(Rig(name).device())) {
      Rig rig(name);
      Random random(seed(84));
      constexpr int64_t kRows = 35;
      const int64_t cols = quant_format(format).unit() == 32 ? 96 : 256;
      StoredMatrix w(format, kRows, cols, random);
      const auto table = w.on(rig.device());
      REQUIRE(table != nullptr);
      const std::vector<int32_t> ids{0, 34, 16, 7};
      const Tensor out = rig.zeros(DType::f32, {4, cols});
      CHECK_OK(ops::embedding(rig.encoder(), {rig.ints(ids), table.get(), out}));
      const std::vector<float> got = rig.read(out);
      std::vector<float> wanted(static_cast<size_t>(cols));
      for (size_t i = 0; i < ids.size(); ++i) {
        dequantise(w.description(), w.row(ids[i]), cols, wanted.data());
        CHECK(std::equal(wanted.begin(), wanted.end(), got.begin() + static_cast<int64_t>(i) * cols));
      }
      if (failed()) return note(name + " " + describe(format));
    }
}

PAGODA_TEST(gpu_stored_pieces_are_multiplied_as_one_matrix) {
  constexpr int64_t kM = 12, kCols = 256;
  for (const std::string& name : kernel_devices()) {
    Rig rig(name);
    Random random(seed(85));
    StoredMatrix a(weight_format(QuantId::q4_k), 48, kCols, random), b(weight_format(QuantId::q6_k), 30, kCols, random);
    std::vector<std::unique_ptr<device::Weight>> pieces;
    pieces.push_back(a.on(rig.device()));
    pieces.push_back(b.on(rig.device()));
    const Tensor x = rig.floats(random.normal(kM * kCols), {kM, kCols});
    const Tensor bias = rig.floats(random.normal(78), {78});
    const Tensor wanted = rig.zeros(DType::f32, {kM, 78}), out = rig.zeros(DType::f32, {kM, 78});
    for (int64_t i = 0, at = 0; i < 2; at += pieces[static_cast<size_t>(i++)]->rows()) {
      const device::Weight* piece = pieces[static_cast<size_t>(i)].get();
      CHECK_OK(ops::matmul(rig.encoder(), {x, piece, device::slice(bias, 0, at, piece->rows()),
                                           device::slice(wanted, 1, at, piece->rows())}));
    }
    CHECK_OK(rig.finish());
    auto joined = rig.device().join_weights(std::move(pieces));
    REQUIRE_OK(joined);
    CHECK_OK(ops::matmul(rig.encoder(), {x, joined->get(), bias, out}));
    CHECK(rig.read(out) == rig.read(wanted));
  }
}

// Codes of 4 and 8 bits keep their size; scales of two levels take whole bytes.
PAGODA_TEST(gpu_stored_weights_take_the_memory_of_their_file) {
  const struct {
    QuantId id;
    double bytes;  // per 256 columns in a GGUF file
  } kFiles[] = {{QuantId::q4_0, 144}, {QuantId::q4_1, 160}, {QuantId::q8_0, 272}, {QuantId::q4_k, 144}};
  for (const std::string& name : kernel_devices()) {
    Rig rig(name);
    // GPTQ with one zero: 4 bits and f16 scales of groups of 128, whose records are twice as large here.
    for (const WeightFormat format : kept_formats(rig.device()))
      if (quant_format(format).name == "int4" && quant_format(format).group == 128)
        CHECK(static_cast<double>(rig.device().weight_bytes(1024, 4096, format)) <= 1.05 * 1024 * 32 * 66);
    for (const auto& file : kFiles) {
      const auto bytes = static_cast<double>(rig.device().weight_bytes(1024, 4096, weight_format(file.id)));
      const double in_file = file.bytes * 1024 * 16;
      if (!(bytes <= in_file * 1.05 && bytes >= in_file * 0.999))
        fail(__FILE__, __LINE__, describe(weight_format(file.id)) + ": " + std::to_string(bytes / in_file));
    }
  }
}
