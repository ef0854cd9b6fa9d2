// R1 for matmul: a row's bits depend neither on the number of rows nor on its index among them.
#include <cstring>

#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {
using Bytes = std::vector<std::byte>;
}  // namespace

PAGODA_TEST(invariance_matmul_rows_do_not_depend_on_their_number) {
  constexpr int64_t kRows = 100, kN = 70, kK = 530;
  for (const std::string& name : selected_devices())
    for (WeightFormat type :
         {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
      if (name == "reference" && type != WeightFormat::bf16) continue;
      Rig rig(name, 3);
      Random random(seed(41));
      const std::vector<float> values = random.normal(kRows * kK);
      const Tensor x = rig.floats(values, {kRows, kK});
      device::Weight* weight = rig.weight(random.normal(kN * kK), kN, kK, type);
      const Tensor alone = rig.zeros(DType::f32, {kRows, kN}), together = rig.zeros(DType::f32, {kRows, kN});
      for (int64_t m = 0; m < kRows; ++m)
        CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, m, 1), weight, {}, device::slice(alone, 0, m, 1)}));
      const std::vector<float> wanted = rig.read(alone);
      for (int64_t m = 1; m <= kRows; m = m < 40 ? m + 1 : (m == 40 ? 97 : m + 3)) {
        const int64_t first = random.below(kRows - m + 1);
        const Tensor out = device::slice(together, 0, 0, m);
        CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, first, m), weight, {}, out}));
        CHECK_OK(rig.finish());
        const std::vector<float> got = rig.read(out);
        if (std::memcmp(got.data(), wanted.data() + first * kN, got.size() * sizeof(float)) != 0)
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(type)) + ": " + std::to_string(m) + " rows differ from one");
      }
    }
}

namespace {

// Multiplies m random rows by a random weight [n][k].
Bytes packed_product(const std::string& name, WeightFormat format, int64_t m, int64_t n, int64_t k) {
  Rig rig(name, 2);
  Random random(seed(61) + static_cast<uint64_t>(m));
  device::Weight* weight = rig.weight(random.normal(n * k), n, k, format);
  const Tensor x = rig.floats(random.normal(m * k), {m, k}), out = rig.zeros(DType::f32, {m, n});
  CHECK_OK(ops::matmul(rig.encoder(), {x, weight, {}, out}));
  CHECK_OK(rig.finish());
  return rig.bytes(out);
}

}  // namespace

// Integer sums are exact, and bf16 has one summation order, except with ARM's matrix instructions.
PAGODA_TEST(invariance_packed_paths_give_the_same_bits) {
  std::vector<std::string> paths = tested_devices();
  std::erase(paths, "cpu");  // identical to one of the others
  std::erase_if(paths, runs_kernels);
  Random random(seed(60));
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 33}) {
    const int64_t n = 1 + random.below(70), k = 1 + random.below(530) + (m == 9 ? 1000 : 0);
    for (WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
      const Bytes wanted = packed_product("cpu:portable", format, m, n, k);
      for (const std::string& name : paths) {
        if (format == WeightFormat::bf16 && has_own_bf16_order(name)) continue;
        if (packed_product(name, format, m, n, k) != wanted)
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(format)) + " differs from portable: " + std::to_string(m) +
                   " rows, " + std::to_string(n) + " x " + std::to_string(k));
      }
    }
  }
}

// Kernels process a few hundred rows together, and K in chunks. The batch repeats its first rows.
PAGODA_TEST(invariance_matmul_rows_do_not_depend_on_their_index_in_a_long_batch) {
  constexpr int64_t kRows = 530, kDistinct = 25, kN = 5, kK = 1030;
  for (const std::string& name : tested_devices())
    for (WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
      Rig rig(name);
      CHECK_OK(rig.device().reserve({.tokens = kRows, .cols = kK}));
      Random random(seed(62));
      device::Weight* weight = rig.weight(random.normal(kN * kK), kN, kK, format);
      std::vector<float> values = random.normal(kDistinct * kK);
      for (int64_t i = kDistinct * kK; i < kRows * kK; ++i) values.push_back(values[i - kDistinct * kK]);
      const Tensor x = rig.floats(values, {kRows, kK}), all = rig.zeros(DType::f32, {kRows, kN}),
                   few = rig.zeros(DType::f32, {kDistinct, kN});
      CHECK_OK(ops::matmul(rig.encoder(), {x, weight, {}, all}));
      CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, 0, kDistinct), weight, {}, few}));
      CHECK_OK(rig.finish());
      const std::vector<float> got = rig.read(all), wanted = rig.read(few);
      for (size_t i = 0; i < got.size(); ++i)
        if (got[i] != wanted[i % wanted.size()]) {
          fail(__FILE__, __LINE__,
               name + " " + std::string(weight_format_name(format)) + ": " + std::to_string(i / kN));
          break;
        }
    }
}
