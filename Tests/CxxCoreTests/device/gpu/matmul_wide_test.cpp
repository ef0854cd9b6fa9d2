// matmul_wide: the bits of the usual kernels for every shape and format, on the software device and on a GPU that has
// its matrix units; and it stays inside what was reserved.
#include <cstring>

#include "device/gpu/gpu_device.h"
#include "device/gpu/software/software_backend.h"
#include "device/registry.h"
#include "device/rig.h"
#include "device/support.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

std::unique_ptr<device::Device> software_device() {
  device::gpu::software::Options options = device::gpu::software::installed_options();
  options.has_tensor_units = options.has_wide_products = true;
  auto backend = device::gpu::software::SoftwareBackend::create(options);
  CHECK_OK(backend);
  return device::gpu::make_gpu_device(std::move(*backend));
}

// Null if this machine has none with such kernels.
std::unique_ptr<device::Device> cuda_device() {
  auto made = device::make_device("cuda", 1);
  if (!made.is_ok()) return nullptr;
  const auto* products = dynamic_cast<device::TensorProducts*>(made->get());
  return products != nullptr && products->has_tensor_products() ? std::move(*made) : nullptr;
}

struct Case {
  WeightFormat format;
  int64_t m, n, k;
  bool silu_mul, has_bias;
};

// The whole product, with columns next to the result that must not change.
std::vector<float> product(Rig& rig, const Case& c, bool is_wide) {
  dynamic_cast<device::TensorProducts&>(rig.device()).use_tensor_products(is_wide);
  Random random(seed(91));
  const int64_t rows = c.silu_mul ? 2 * c.n : c.n;
  device::Weight* weight = rig.weight(random.normal(rows * c.k), rows, c.k, c.format);
  const Tensor x = device::slice(rig.floats(random.normal(c.m * (c.k + 3)), {c.m, c.k + 3}), 1, 2, c.k);
  const Tensor bias = c.has_bias ? rig.floats(random.normal(rows), {rows}) : Tensor{};
  const Tensor wide = rig.zeros(DType::f32, {c.m, c.n + 2});
  CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, device::slice(wide, 1, 1, c.n), c.silu_mul}));
  CHECK_OK(rig.finish());
  return rig.read(wide);
}

// 192 columns leave runs empty; 1100 give runs of three chunks, the last of two. 300 rows are tiles of 192 and of 108.
constexpr Case kCases[] = {
    {WeightFormat::bf16, 300, 40, 192, false, true}, {WeightFormat::bf16, 257, 18, 576, true, false},
    {WeightFormat::q8, 256, 130, 128, false, false}, {WeightFormat::q8, 300, 33, 320, true, true},
    {WeightFormat::q4, 270, 65, 192, true, false},   {WeightFormat::q4, 300, 20, 1100, false, true},
    {WeightFormat::f16, 261, 34, 320, false, false}};

void compare(std::unique_ptr<device::Device> (*make)()) {
  for (const Case& c : kCases) {
    Rig rig(make());
    CHECK(dynamic_cast<device::TensorProducts&>(rig.device()).has_same_bits());
    const std::vector<float> usual = product(rig, c, false), wide = product(rig, c, true);
    for (size_t i = 0; i < usual.size(); ++i)
      if (std::memcmp(&usual[i], &wide[i], sizeof(float)) != 0)
        return fail(__FILE__, __LINE__,
                    std::string(weight_format_name(c.format)) + " [" + std::to_string(c.m) + ", " +
                        std::to_string(c.n) + ", " + std::to_string(c.k) + "]: [" + std::to_string(i) + "] is " +
                        std::to_string(wide[i]) + ", by the usual kernels " + std::to_string(usual[i]));
  }
}

}  // namespace

PAGODA_TEST(gpu_matmul_wide_gives_the_bits_of_the_usual_kernels) { compare(software_device); }

PAGODA_TEST(gpu_matmul_wide_gives_the_bits_of_the_usual_kernels_on_cuda) {
  if (cuda_device() == nullptr) return note("not run: no GPU with the matrix units of matmul_wide");
  compare(cuda_device);
}

// The kernels copy rows eight at a time. Where there is no room for that many, the usual ones give the same bits.
PAGODA_TEST(gpu_matmul_wide_stays_inside_what_was_reserved) {
  constexpr int64_t kN = 20, kK = 64;
  for (const int64_t reserved : {257, 264}) {
    Rig rig(software_device());
    CHECK_OK(rig.device().reserve({.tokens = reserved, .cols = kK}));
    Random random(seed(92));
    device::Weight* weight = rig.weight(random.normal(kN * kK), kN, kK, WeightFormat::bf16);
    const Tensor x = rig.floats(random.normal(257 * kK), {257, kK}), out = rig.zeros(DType::f32, {257, kN});
    std::vector<float> results[2];
    for (const bool is_wide : {false, true}) {
      dynamic_cast<device::TensorProducts&>(rig.device()).use_tensor_products(is_wide);
      CHECK_OK(ops::matmul(rig.encoder(), {x, weight, {}, out}));
      CHECK_OK(rig.finish());
      results[is_wide] = rig.read(out);
    }
    CHECK(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(float)) == 0);
  }
}
