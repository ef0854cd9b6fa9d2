// The conformance table: matmul, plain and gated.
#include <cmath>

#include "device/conformance.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

PAGODA_TEST(conformance_matmul) {
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 1},   {1, 5, 7},    {2, 3, 16},    {3, 17, 33},  {4, 64, 16},
                {6, 4, 512}, {7, 66, 130}, {13, 70, 530}, {97, 70, 40}, {101, 9, 1040}};
  for (WeightFormat type : kFormats)
    for (const auto& s : shapes)
      compare("matmul " + text(type) + text({s.m, s.n, s.k}), sum_of_products(s.k, type),
              [&](Rig& rig, Random& random) -> Outputs {
                device::Weight* weight = rig.weight(random.normal(s.n * s.k), s.n, s.k, type);
                const Tensor x = device::slice(rig.floats(random.normal(s.m * (s.k + 3)), {s.m, s.k + 3}), 1, 2, s.k);
                const Tensor bias = s.m % 2 == 0 ? rig.floats(random.normal(s.n), {s.n}) : Tensor{};
                const Tensor wide = rig.zeros(DType::f32, {s.m, s.n + 2});
                CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, device::slice(wide, 1, 1, s.n)}));
                CHECK_OK(rig.finish());
                return {rig.read(wide)};  // the columns next to the result must stay zero
              });
}

PAGODA_TEST(conformance_matmul_with_silu_mul) {
  const struct {
    int64_t m, f, k;
  } shapes[] = {{1, 1, 8},   {1, 64, 130}, {2, 65, 16},   {7, 24, 33},
                {3, 8, 512}, {2, 8, 4608}, {40, 200, 130}};  // 512: loaded four at a time; 4608: larger than a tile
  for (WeightFormat type : kFormats)
    for (const auto& s : shapes) {
      const double other = 40 + 5 * std::sqrt(static_cast<double>(s.k));  // magnitude of the other factor
      const Tolerances tolerance = sum_of_products(s.k, type, other);
      compare("matmul silu " + text(type) + text({s.m, s.f, s.k}), tolerance, [&](Rig& rig, Random& random) -> Outputs {
        device::Weight* weight = rig.weight(random.normal(2 * s.f * s.k), 2 * s.f, s.k, type);
        const Tensor x = rig.floats(random.normal(s.m * s.k), {s.m, s.k}),
                     bias = s.m % 2 == 0 ? rig.floats(random.normal(2 * s.f, 10.0f), {2 * s.f}) : Tensor{};
        const Tensor wide = rig.zeros(DType::f32, {s.m, s.f + 2});
        CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, device::slice(wide, 1, 1, s.f), true}));
        CHECK_OK(rig.finish());
        return {rig.read(wide)};
      });
    }
}
