// The matmul kernels for different numbers of rows: each row gets the same bits from all of them.
#include <cstring>

#include "device/registry.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

// The first `m` rows of x times the weight; `gap` columns between rows keep kernels from reading x in place.
std::vector<float> product(Rig& rig, const std::vector<float>& x, device::Weight* weight, int64_t m, int64_t gap,
                           bool silu_mul) {
  const int64_t k = weight->cols(), n = silu_mul ? weight->rows() / 2 : weight->rows();
  std::vector<float> spread(static_cast<size_t>(m * (k + gap)));
  for (int64_t i = 0; i < m; ++i)
    std::memcpy(&spread[static_cast<size_t>(i * (k + gap))], &x[static_cast<size_t>(i * k)],
                static_cast<size_t>(k) * sizeof(float));
  const Tensor rows = device::slice(rig.floats(spread, {m, k + gap}), 1, 0, k), out = rig.zeros(DType::f32, {m, n});
  CHECK_OK(ops::matmul(rig.encoder(), {rows, weight, {}, out, silu_mul}));
  CHECK_OK(rig.finish());
  return rig.read(out);
}

}  // namespace

// Rows are read in tiles of 64, but there is only space for the rows requested.
PAGODA_TEST(gpu_matmul_stays_inside_what_was_reserved) {
  constexpr int64_t kRows = 66, kColumns = 256;
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = kRows, .cols = kColumns}));
  Random random(seed(73));
  device::Weight* weight = rig.weight(random.normal(kColumns), 1, kColumns, WeightFormat::bf16);
  product(rig, random.normal(kRows * kColumns), weight, kRows, 0, false);
  const Tensor x = rig.floats(random.normal(kRows * kColumns), {kRows, kColumns}), bias = rig.floats({0.5f}, {1});
  CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, rig.zeros(DType::f32, {kRows, 1})}));
  CHECK_OK(rig.finish());
}

// 192 columns leave runs empty; 576 give runs of two chunks, the last of one; 4160 give runs of nine, the last of two:
// more than are prefetched.
PAGODA_TEST(gpu_matmul_gives_the_same_bits_from_every_kernel) {
  const struct {
    WeightFormat format;
    int64_t columns;
    bool silu_mul;
  } cases[] = {{WeightFormat::bf16, 192, true}, {WeightFormat::bf16, 576, false}, {WeightFormat::q8, 576, true},
               {WeightFormat::q4, 576, false},  {WeightFormat::q8, 4160, false},  {WeightFormat::bf16, 4160, true}};
  constexpr int64_t kRows = 66, kN = 18;
  for (const std::string& name : {std::string("software"), std::string("cuda")}) {
    if (const auto made = device::make_device(name, 1); !made.is_ok()) {
      note("not run: " + made.status.message);
      continue;
    }
    for (const auto& [format, columns, silu_mul] : cases) {
      Rig rig(name);
      Random random(seed(71));
      const std::vector<float> x = random.normal(kRows * columns);
      device::Weight* weight = rig.weight(random.normal(kN * columns), kN, columns, format);
      const std::vector<float> wanted = product(rig, x, weight, kRows, 0, silu_mul);
      for (const int64_t m : {1, 8, 9, 17, 33})
        for (const int64_t gap : {0, 3}) {
          const std::vector<float> got = product(rig, x, weight, m, gap, silu_mul);
          if (std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) != 0)
            fail(__FILE__, __LINE__,
                 name + " " + std::string(weight_format_name(format)) + ", " + std::to_string(columns) + " columns, " +
                     std::to_string(m) + " rows, gap " + std::to_string(gap) + ": not the bits of 66 rows");
        }
    }
  }
}

// Enough weight rows that tiles of 128 of them are used, even for few rows of x; the last tile is not full.
PAGODA_TEST(gpu_matmul_gives_the_same_bits_from_tiles_of_128_rows) {
  constexpr int64_t kWide = 32770, kN = 18, kColumns = 64, kRows = 17;
  Rig rig("software");
  Random random(seed(75));
  const std::vector<float> x = random.normal(kRows * kColumns), w = random.normal(kWide * kColumns);
  const std::vector<float> all = product(rig, x, rig.weight(w, kWide, kColumns, WeightFormat::bf16), kRows, 0, false);
  for (const int64_t first : {int64_t{0}, kWide - kN}) {
    const auto begin = w.begin() + first * kColumns;
    device::Weight* narrow = rig.weight({begin, begin + kN * kColumns}, kN, kColumns, WeightFormat::bf16);
    const std::vector<float> some = product(rig, x, narrow, kRows, 0, false);
    for (size_t m = 0; m < kRows; ++m)
      CHECK(std::memcmp(&all[m * kWide + static_cast<size_t>(first)], &some[m * kN], kN * sizeof(float)) == 0);
  }
}

// From 2048 weight rows on, threadgroups process twice as many of them for few rows of x.
PAGODA_TEST(gpu_matmul_gives_the_same_bits_for_narrow_and_wide_weights) {
  constexpr int64_t kWide = 2050, kN = 18, kColumns = 128;
  Rig rig("software");
  Random random(seed(74));
  const std::vector<float> x = random.normal(2 * kColumns), w = random.normal(kWide * kColumns);
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
    device::Weight* wide = rig.weight(w, kWide, kColumns, format);
    device::Weight* narrow = rig.weight({w.begin(), w.begin() + kN * kColumns}, kN, kColumns, format);
    for (const int64_t gap : {0, 3}) {
      const std::vector<float> all = product(rig, x, wide, 2, gap, false),
                               some = product(rig, x, narrow, 2, gap, false);
      for (size_t m = 0; m < 2; ++m) CHECK(std::memcmp(&all[m * kWide], &some[m * kN], kN * sizeof(float)) == 0);
    }
  }
}
