// The kernels of matmul_tensor on the software device: correct for every shape, and each row's bits are independent of
// other rows.
#include <cmath>
#include <cstring>

#include "device/conformance.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/kernel_table.h"
#include "device/gpu/software/software_backend.h"
#include "device/gpu/tensor_texts.h"
#include "device/support.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

std::unique_ptr<device::Device> tensor_device() {
  auto backend = device::gpu::software::SoftwareBackend::create(device::gpu::software::installed_options());
  CHECK_OK(backend);
  auto made = device::gpu::make_gpu_device(std::move(*backend));
  dynamic_cast<device::TensorProducts&>(*made).use_tensor_products(true);
  return made;
}

struct Case {
  int64_t m, n, k;
  bool silu_mul, has_bias;
};

// The whole product, with columns next to the result that must not change.
std::vector<float> product(Rig& rig, const Case& c, WeightFormat format) {
  Random random(seed(81) + static_cast<uint64_t>(c.m * 1000 + c.n));
  const int64_t rows = c.silu_mul ? 2 * c.n : c.n;
  device::Weight* weight = rig.weight(random.normal(rows * c.k), rows, c.k, format);
  const Tensor x = device::slice(rig.floats(random.normal(c.m * (c.k + 3)), {c.m, c.k + 3}), 1, 2, c.k);
  const Tensor bias = c.has_bias ? rig.floats(random.normal(rows), {rows}) : Tensor{};
  const Tensor wide = rig.zeros(DType::f32, {c.m, c.n + 2});
  CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, device::slice(wide, 1, 1, c.n), c.silu_mul}));
  CHECK_OK(rig.finish());
  return rig.read(wide);
}

}  // namespace

PAGODA_TEST(gpu_matmul_tensor_gives_what_the_reference_gives) {
  const Case cases[] = {{1, 1, 1, false, false},   {3, 17, 33, false, true},   {7, 66, 130, true, true},
                        {64, 64, 64, false, true}, {70, 33, 200, true, false}, {101, 130, 320, false, false}};
  for (WeightFormat format : {WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4})
    for (const Case& c : cases) {
      Rig ours(tensor_device()), reference("reference");
      reference.round_weights_in_groups();
      const std::vector<float> got = product(ours, c, format), wanted = product(reference, c, format);
      const double other = c.silu_mul ? 40 + 5 * std::sqrt(static_cast<double>(c.k)) : 1;
      const Tolerance tolerance = sum_of_products(c.k, format, other).in_kernels;
      for (size_t i = 0; i < got.size(); ++i)
        if (!(std::abs(got[i] - wanted[i]) <= tolerance.absolute + tolerance.relative * std::abs(wanted[i])))
          return fail(__FILE__, __LINE__,
                      text(format) + text({c.m, c.n, c.k}) + ": [" + std::to_string(i) + "] is " +
                          std::to_string(got[i]) + ", reference " + std::to_string(wanted[i]));
    }
}

PAGODA_TEST(gpu_matmul_tensor_gives_a_row_the_same_bits_among_any) {
  constexpr int64_t kRows = 131, kN = 70, kK = 200;
  for (WeightFormat format : {WeightFormat::bf16, WeightFormat::q4}) {
    Rig rig(tensor_device());
    CHECK_OK(rig.device().reserve({.tokens = kRows, .cols = kK}));  // no further row is read
    Random random(seed(82));
    device::Weight* weight = rig.weight(random.normal(kN * kK), kN, kK, format);
    const Tensor x = rig.floats(random.normal(kRows * kK), {kRows, kK}), out = rig.zeros(DType::f32, {kRows, kN});
    CHECK_OK(ops::matmul(rig.encoder(), {x, weight, {}, out}));
    CHECK_OK(rig.finish());
    const std::vector<float> all = rig.read(out);
    for (const int64_t m : {1, 2, 63, 65}) {
      const int64_t first = random.below(kRows - m + 1);
      const Tensor some = device::slice(out, 0, 0, m);
      CHECK_OK(ops::matmul(rig.encoder(), {device::slice(x, 0, first, m), weight, {}, some}));
      CHECK_OK(rig.finish());
      const std::vector<float> got = rig.read(some);
      CHECK(std::memcmp(got.data(), &all[static_cast<size_t>(first * kN)], got.size() * sizeof(float)) == 0);
    }
  }
}

// A norm before a product and a sum after it are the same ops as with the usual kernels.
PAGODA_TEST(gpu_matmul_tensor_takes_norms_and_adds_to_the_stream) {
  constexpr int64_t kRows = 3, kK = 128;
  std::vector<float> results[2];
  for (const bool is_tensor : {false, true}) {
    Rig rig(tensor_device());
    dynamic_cast<device::TensorProducts&>(rig.device()).use_tensor_products(is_tensor);
    Random random(seed(83));
    device::Weight* weight = rig.weight(random.normal(kK * kK), kK, kK, WeightFormat::bf16);
    const Tensor x = rig.floats(random.normal(kRows * kK), {kRows, kK}), normed = rig.zeros(DType::f32, {kRows, kK});
    const Tensor add = rig.zeros(DType::f32, {kRows, kK}), norm = rig.floats(random.normal(kK), {kK});
    CHECK_OK(ops::rms_norm(rig.encoder(), {x, {}, norm, 1e-6f, 1.0f, normed}));
    CHECK_OK(ops::matmul(rig.encoder(), {normed, weight, {}, add}));
    CHECK_OK(ops::rms_norm(rig.encoder(), {x, add, norm, 1e-6f, 1.0f, normed}));
    CHECK_OK(rig.finish());
    results[is_tensor] = rig.read(x);
  }
  for (size_t i = 0; i < results[0].size(); ++i) CHECK(std::abs(results[0][i] - results[1][i]) < 1e-3f);
}

PAGODA_TEST(gpu_matmul_tensor_is_no_kernel_of_cuda) {
  int count = 0;
  for (const auto& file : device::gpu::generated::files()) {
    CHECK_EQ(device::gpu::has_tensors(file.source), file.source.cuda_entries.empty());
    count += device::gpu::has_tensors(file.source);
  }
  CHECK_EQ(count, 1);
}
