// simdgroup_matrix and atomics of Tests/Kernels/intrinsics_matrix.metal.
#include <algorithm>
#include <cmath>
#include <random>

#include "base/dtype.h"
#include "device/gpu/intrinsics.h"
#include "device/gpu/kernel_rig.h"
#include "device/gpu/software/software_backend.h"
#include "generated/bindings.h"
#include "support/test.h"

namespace pagoda::device::gpu::test_kernels {

namespace {

constexpr int kStride = 24, kRows = 16;

Bound bound_as(DType dtype, int index, const std::vector<float>& values) {
  if (dtype == DType::f32) return Bound::of(index, values);
  std::vector<uint16_t> narrow;
  for (float f : values) narrow.push_back(dtype == DType::f16 ? f32_to_f16(f) : f32_to_bf16(f));
  return Bound::of(index, narrow);
}

std::vector<float> floats_of(DType dtype, const Bound& bound) {
  if (dtype == DType::f32) return bound.as<float>();
  std::vector<float> wide;
  for (uint16_t h : bound.as<uint16_t>()) wide.push_back(dtype == DType::f16 ? f16_to_f32(h) : bf16_to_f32(h));
  return wide;
}

void check_matrix_of(Backend& backend, DType dtype, std::string_view kernel) {
  std::mt19937_64 random(test::seed(31));
  std::vector<float> a(kRows * kStride), b(kRows * kStride);
  for (auto* m : {&a, &b})  // eighths: products and sums of them are exact in any order
    for (float& f : *m) f = static_cast<float>(static_cast<int>(random() % 33) - 16) / 8.0f;
  std::vector<Bound> bound = {bound_as(dtype, 0, a), bound_as(dtype, 1, b), Bound::of(2, std::vector<float>(128)),
                              bound_as(dtype, 3, std::vector<float>(576))};
  REQUIRE_OK(run_kernel(backend, kernel, {}, {32, 1, 1}, bound));
  const auto out = bound[2].as<float>(), typed = floats_of(dtype, bound[3]);
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c) {
      float product = 0, with_transposed = 1.5f;
      for (int k = 0; k < 8; ++k) {
        product += a[r * kStride + k] * b[k * kStride + c];
        with_transposed += a[k * kStride + r] * b[k * kStride + c];
      }
      const int at = r * 8 + c;
      CHECK_EQ(typed[at], a[r * kStride + c]);
      CHECK_EQ(typed[64 + at], a[c * kStride + r]);
      CHECK_EQ(typed[128 + at], a[c * kStride + r]);
      CHECK_EQ(out[at], product);
      CHECK_EQ(out[64 + at], with_transposed);
      CHECK_EQ(typed[192 + (4 + r) * 16 + 8 + c], a[(4 + r) * kStride + 8 + c]);
      CHECK_EQ(typed[512 + at], a[r * 12 + c]);  // through threadgroup memory: rows of 12
    }
}

}  // namespace

void check_matrices(Backend& backend) {
  namespace matrix = kernels::intrinsics_matrix;
  check_matrix_of(backend, DType::f32, matrix::f32);
  check_matrix_of(backend, DType::f16, matrix::f16);
  check_matrix_of(backend, DType::bf16, matrix::bf16);
}

void check_atomics(Backend& backend) {
  constexpr uint32_t kThreads = 96, kGroups = 3, kAll = kThreads * kGroups;
  std::vector<Bound> bound = {Bound::of(0, std::vector<int32_t>{5, -1000, 1000, 7}),
                              Bound::of(1, std::vector<uint32_t>{3, 0, 0, ~0u}), Bound::of(2, std::vector<float>{1.0f}),
                              Bound::of(3, std::vector<uint32_t>(kAll)), Bound::of(4, std::vector<uint32_t>(kGroups))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_atomics::kernel, {kGroups, 1, 1}, {kThreads, 1, 1}, bound));
  const auto ints = bound[0].as<int32_t>();
  const auto uints = bound[1].as<uint32_t>(), shared = bound[4].as<uint32_t>();
  auto seen = bound[3].as<uint32_t>();
  CHECK_EQ(ints[0], 5 + static_cast<int32_t>(kAll * (kAll - 1) / 2) - 3 * static_cast<int32_t>(kAll));
  CHECK_EQ(ints[1], 63 - 100);
  CHECK_EQ(ints[2], -100);
  CHECK_EQ(ints[3], 42);
  CHECK_EQ(uints[0], 3 + kAll);
  CHECK_EQ(uints[1], kAll - 1);
  CHECK_EQ(uints[2], ~0u);
  CHECK_EQ(uints[3], ~0x7fu);
  CHECK_EQ(bound[2].as<float>()[0], 1.0f + 0.5f * kAll);
  std::sort(seen.begin(), seen.end());
  for (uint32_t i = 0; i < kAll; ++i) CHECK_EQ(seen[i], 3 + i);  // each old value once
  for (uint32_t count : shared) CHECK_EQ(count, 10 + 2 * kThreads);
}

PAGODA_TEST(gpu_intrinsics_matrices) {
  auto backend = software::SoftwareBackend::create({.check_uniform = true}, generated::test_files());
  REQUIRE_OK(backend);
  check_matrices(**backend);
}

PAGODA_TEST(gpu_intrinsics_atomics) {
  for (const auto order : {software::Order::forward, software::Order::random}) {
    auto backend = software::SoftwareBackend::create({.order = order, .num_threads = 3}, generated::test_files());
    REQUIRE_OK(backend);
    check_atomics(**backend);
  }
}

}  // namespace pagoda::device::gpu::test_kernels
