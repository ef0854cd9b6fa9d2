// The kernels that share matmul's work by the number of rows: each row gets the same bits from all of them.
#include <cstring>

#include "device/registry.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

// The first `m` rows of x times the weight; `gap` columns between rows keep kernels from reading x as it lies.
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

// 192 columns leave runs empty; 1152 make runs of three chunks.
PAGODA_TEST(gpu_matmul_gives_the_same_bits_from_every_kernel) {
  for (const std::string& name : {std::string("software"), std::string("cuda")}) {
    if (name == "cuda" && !device::make_device(name, 1).is_ok()) {
      note("not run on cuda: " + device::make_device(name, 1).status.message);
      continue;
    }
    for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::q8})
      for (const int64_t k : {192, 1152})
        for (const bool silu_mul : {false, true}) {
          Rig rig(name);
          Random random(seed(71));
          constexpr int64_t kRows = 70, kN = 38;
          const std::vector<float> x = random.normal(kRows * k);
          device::Weight* weight = rig.weight(random.normal(kN * k), kN, k, format);
          const std::vector<float> wanted = product(rig, x, weight, kRows, 0, silu_mul);
          for (const int64_t m : {1, 8, 9, 16, 17, 33, 64, 65})
            for (const int64_t gap : {0, 3}) {
              const std::vector<float> got = product(rig, x, weight, m, gap, silu_mul);
              if (std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) != 0)
                fail(__FILE__, __LINE__,
                     name + " " + std::string(weight_format_name(format)) + ", " + std::to_string(k) + " columns, " +
                         std::to_string(m) + " rows, gap " + std::to_string(gap) + ": not the bits of 70 rows");
            }
        }
  }
}
