// Weights of 8-bit floats with a scale per 128 columns: each code is exact, products equal the sums written out here,
// to the bit, where bf16 products have no instruction of their own, and no row depends on others on any code path.
#include <bit>
#include <cmath>

#include "base/dtype.h"
#include "device/stored/stored_weights.h"
#include "ops/ops.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

#pragma clang fp contract(off)

namespace {

constexpr WeightFormat kFloat8 = weight_format(QuantId::fp8);

std::vector<std::string> cpu_paths() {
  std::vector<std::string> names = tested_devices();
  std::erase_if(names, runs_kernels);
  return names;
}

// Whether bf16 products are those of PackedTile: other paths have instructions with sums of their own.
bool has_plain_sums(const std::string& name) {
  for (const char* own : {"bf16", "i8mm"})
    if (name.find(own) != name.npos) return false;
  return true;
}

float bfloat(float value) { return bf16_to_f32(f32_to_bf16(value)); }

// As PackedTile describes it, for each group of 128 columns. Products are exact, so that only additions round.
float product(StoredMatrix& w, int64_t n, const float* x) {
  const StoredRow row = w.row(n);
  float total = 0;
  for (int64_t group = 0; group < w.cols; group += 128) {
    float part = 0;
    for (int64_t begin = group; begin < group + 128; begin += 32) {
      float sums[2] = {};
      for (int64_t i = begin; i < begin + 32; ++i) sums[i % 2] += f8_e4m3_to_f32(row.codes[i]) * bfloat(x[i]);
      part += sums[0] + sums[1];
    }
    const float scale = group_scales(w.description(), row, group / 128).scale;
    total = group == 0 ? part * scale : std::fma(part, scale, total);
  }
  return total;
}

std::vector<float> multiply(Rig& rig, const device::Weight& weight, const std::vector<float>& x, int64_t m, int64_t k,
                            const Tensor& bias) {
  const Tensor out = rig.zeros(DType::f32, {m, weight.rows()});
  CHECK_OK(ops::matmul(rig.encoder(), {rig.floats(x, {m, k}), &weight, bias, out}));
  return rig.read(out);
}

}  // namespace

PAGODA_TEST(stored_float8_products_are_the_sums_of_bf16_groups) {
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 128}, {1, 70, 256}, {2, 33, 384}, {3, 16, 128}, {9, 66, 128}, {20, 100, 256}, {270, 18, 256}};
  for (const std::string& name : cpu_paths())
    for (const auto& s : shapes) {
      Rig rig(name);
      Random random(seed(77));
      StoredMatrix w(kFloat8, s.n, s.k, random);
      const auto weight = w.on(rig.device());
      REQUIRE(weight != nullptr);
      const std::vector<float> x = random.normal(s.m * s.k, 3.0f), added = random.normal(s.n);
      const std::vector<float> got = multiply(rig, *weight, x, s.m, s.k, rig.floats(added, {s.n}));
      for (int64_t m = 0; m < s.m; ++m)
        for (int64_t n = 0; n < s.n; ++n) {
          const float wanted = product(w, n, x.data() + m * s.k) + added[static_cast<size_t>(n)];
          const float at = got[static_cast<size_t>(m * s.n + n)];
          // Other orders of sums of up to 384 terms of about 700 times 0.05.
          if (has_plain_sums(name) ? std::bit_cast<uint32_t>(wanted) != std::bit_cast<uint32_t>(at)
                                   : !(std::fabs(wanted - at) <= 0.02f))
            return fail(__FILE__, __LINE__,
                        name + ", " + std::to_string(s.m) + " rows, " + std::to_string(s.n) + " x " +
                            std::to_string(s.k) + ": " + std::to_string(at) + " instead of " + std::to_string(wanted));
        }
    }
}

PAGODA_TEST(stored_float8_bits_do_not_depend_on_other_rows) {
  constexpr int64_t kRows = 300, kN = 82, kCols = 256;
  for (const std::string& name : cpu_paths()) {
    Rig rig(name);
    Random random(seed(78));
    StoredMatrix w(kFloat8, kN, kCols, random);
    const auto weight = w.on(rig.device());
    REQUIRE(weight != nullptr);
    const std::vector<float> x = random.normal(kRows * kCols);
    const std::vector<float> all = multiply(rig, *weight, x, kRows, kCols, Tensor{});
    for (const int64_t m : {1, 2, 5, 17, 256}) {
      const std::vector<float> some(x.end() - m * kCols, x.end());
      const std::vector<float> got = multiply(rig, *weight, some, m, kCols, Tensor{});
      CHECK(std::equal(got.begin(), got.end(), all.end() - m * kN));
    }
    if (failed()) return note(name);
  }
}

// Every code that is a number, one per row, times 1.
PAGODA_TEST(stored_float8_codes_are_exact) {
  constexpr int64_t kCols = 128;
  for (const std::string& name : cpu_paths()) {
    Rig rig(name);
    Random random(seed(79));
    StoredMatrix w(kFloat8, 254, kCols, random);
    const auto code_of = [](int64_t n) { return static_cast<uint8_t>(n < 127 ? n : n + 1); };
    for (int64_t n = 0; n < w.rows; ++n) {
      const StoredRow row = w.row(n);
      std::fill_n(row.codes, kCols, uint8_t{0});
      row.codes[n % kCols] = code_of(n);
      const float one = 1.0f;
      std::memcpy(row.scales, &one, 4);
    }
    const auto weight = w.on(rig.device());
    REQUIRE(weight != nullptr);
    for (const int64_t m : {1, 20}) {
      const std::vector<float> got =
          multiply(rig, *weight, std::vector<float>(static_cast<size_t>(m * kCols), 1.0f), m, kCols, Tensor{});
      for (int64_t i = 0; i < m * w.rows; ++i)
        CHECK_EQ(got[static_cast<size_t>(i)], f8_e4m3_to_f32(code_of(i % w.rows)));
    }
    if (failed()) return note(name);
  }
}

PAGODA_TEST(stored_float8_pieces_and_floats_are_one_matrix) {
  constexpr int64_t kM = 5, kCols = 256;
  Random random(seed(80));
  const std::vector<float> x = random.normal(kM * kCols), floats = random.normal(16 * kCols, 0.05f);
  for (const std::string& name : cpu_paths()) {
    Rig rig(name);
    StoredMatrix a(kFloat8, 48, kCols, random);
    std::vector<std::unique_ptr<device::Weight>> pieces;
    pieces.push_back(a.on(rig.device()));
    device::WeightSource source{"floats", DType::f32, 16, kCols, [&](int64_t begin, int64_t count, std::byte* into) {
                                  std::memcpy(into, floats.data() + begin * kCols,
                                              static_cast<size_t>(count * kCols * 4));
                                  return ok_status();
                                }};
    auto last = rig.device().make_weight(source, WeightFormat::f32);
    REQUIRE_OK(last);
    pieces.push_back(std::move(*last));
    const std::vector<float> first = multiply(rig, *pieces[0], x, kM, kCols, Tensor{}),
                             second = multiply(rig, *pieces[1], x, kM, kCols, Tensor{});
    auto joined = rig.device().join_weights(std::move(pieces));
    REQUIRE_OK(joined);
    const std::vector<float> got = multiply(rig, **joined, x, kM, kCols, Tensor{});
    for (int64_t m = 0; m < kM; ++m) {
      CHECK(std::equal(first.begin() + m * 48, first.begin() + (m + 1) * 48, got.begin() + m * 64));
      CHECK(std::equal(second.begin() + m * 16, second.begin() + (m + 1) * 16, got.begin() + m * 64 + 48));
    }
    if (failed()) return note(name);
  }
}

// Experts give the bits of a product with each of them alone, for few rows and for many.
PAGODA_TEST(stored_float8_experts_are_products_with_each_expert) {
  constexpr int64_t kExperts = 3, kN = 32, kCols = 256, kEach = 2;
  for (const std::string& name : cpu_paths())
    for (const int64_t tokens : {3, 40}) {
      Rig rig(name);
      Random random(seed(86));
      StoredMatrix w(kFloat8, kExperts * kN, kCols, random);
      const auto weight = w.on(rig.device());
      REQUIRE(weight != nullptr);
      const std::vector<float> x = random.normal(tokens * kCols);
      std::vector<int32_t> ids;
      for (int64_t t = 0; t < tokens; ++t) {
        ids.push_back(static_cast<int32_t>(random.below(kExperts)));
        ids.push_back((ids.back() + 1) % static_cast<int32_t>(kExperts));
      }
      const Tensor out = rig.zeros(DType::f32, {tokens * kEach, kN});
      CHECK_OK(ops::expert_matmul(rig.encoder(), {rig.floats(x, {tokens, kCols}), weight.get(), kExperts,
                                                  rig.ints(ids, {tokens, kEach}), out}));
      const std::vector<float> got = rig.read(out), all = multiply(rig, *weight, x, tokens, kCols, Tensor{});
      for (size_t i = 0; i < ids.size(); ++i) {
        const auto wanted = all.begin() + static_cast<int64_t>(i / kEach) * kExperts * kN + ids[i] * kN;
        CHECK(std::equal(wanted, wanted + kN, got.begin() + static_cast<int64_t>(i) * kN));
      }
      if (failed()) return note(name + ", " + std::to_string(tokens) + " tokens");
    }
}

// One byte per number and 4 for each 128 columns of a row, where the file has 2 or 4 for each 128 x 128 block.
PAGODA_TEST(stored_float8_weights_take_the_memory_of_their_file) {
  Rig rig("cpu");
  const auto bytes = static_cast<double>(rig.device().weight_bytes(1024, 4096, kFloat8));
  CHECK(bytes <= 1024 * 4096 * 1.05);
}
