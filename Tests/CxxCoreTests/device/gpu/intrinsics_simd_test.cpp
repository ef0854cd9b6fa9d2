// simd functions and positions of Tests/Kernels/intrinsics_simd.metal against the language specification.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "device/gpu/intrinsics.h"
#include "device/gpu/kernel_rig.h"
#include "device/gpu/software/software_backend.h"
#include "generated/bindings.h"
#include "support/test.h"

namespace pagoda::device::gpu::test_kernels {

namespace {

// value(simdgroup's 32 inputs, lane, thread) of each function, in the kernel's order.
template <class T>
struct Row {
  const char* name;
  std::function<T(const T* in, uint32_t lane, uint32_t thread)> want;
};

template <class T>
void compare(const std::vector<Row<T>>& rows, const std::vector<T>& in, const std::vector<T>& out, double tolerance) {
  CHECK_EQ(out.size(), rows.size() * 64);
  for (size_t f = 0; f < rows.size(); ++f)
    for (uint32_t thread = 0; thread < 64; ++thread) {
      const T want = rows[f].want(in.data() + thread / 32 * 32, thread % 32, thread), got = out[f * 64 + thread];
      const double off = std::abs(static_cast<double>(got) - static_cast<double>(want));
      if (!(off <= tolerance * (1 + std::abs(static_cast<double>(want)))))
        test::fail(__FILE__, __LINE__,
                   std::string(rows[f].name) + " in thread " + std::to_string(thread) + ": " + std::to_string(got) +
                       ", not " + std::to_string(want));
    }
}

template <class T, class F>
T fold(const T* in, F f) {
  T value = in[0];
  for (int i = 1; i < 32; ++i) value = f(value, in[i]);
  return value;
}

}  // namespace

void check_simd_float(Backend& backend) {
  std::mt19937_64 random(test::seed(11));
  std::vector<float> in(64);
  std::vector<uint32_t> from(64);
  // Eighths below two: half represents them and their sums exactly.
  for (float& f : in) f = static_cast<float>(static_cast<int>(random() % 31) - 15) / 8.0f;
  for (float& f : in)
    if (f == 0.0f) f = 1.0f;
  for (uint32_t& lane : from) lane = static_cast<uint32_t>(random() % 32);
  using P = const float*;
  const std::vector<Row<float>> rows = {
      {"simd_sum", [](P v, uint32_t, uint32_t) { return fold(v, std::plus<float>()); }},
      {"simd_product", [](P v, uint32_t, uint32_t) { return fold(v, std::multiplies<float>()); }},
      {"simd_max", [](P v, uint32_t, uint32_t) { return *std::max_element(v, v + 32); }},
      {"simd_min", [](P v, uint32_t, uint32_t) { return *std::min_element(v, v + 32); }},
      {"simd_prefix_inclusive_sum", [](P v, uint32_t l, uint32_t) { return std::accumulate(v, v + l + 1, 0.0f); }},
      {"simd_prefix_exclusive_sum", [](P v, uint32_t l, uint32_t) { return std::accumulate(v, v + l, 0.0f); }},
      {"simd_broadcast", [](P v, uint32_t, uint32_t) { return v[5]; }},
      {"simd_shuffle", [&](P v, uint32_t, uint32_t t) { return v[from[t]]; }},
      {"simd_shuffle_xor 1", [](P v, uint32_t l, uint32_t) { return v[l ^ 1]; }},
      {"simd_shuffle_xor 16", [](P v, uint32_t l, uint32_t) { return v[l ^ 16]; }},
      {"simd_shuffle_up", [](P v, uint32_t l, uint32_t) { return v[l >= 3 ? l - 3 : l]; }},
      {"simd_shuffle_down", [](P v, uint32_t l, uint32_t) { return v[l + 5 < 32 ? l + 5 : l]; }},
      {"simd_shuffle_rotate_up", [](P v, uint32_t l, uint32_t) { return v[(l + 25) % 32]; }},
      {"simd_shuffle_rotate_down", [](P v, uint32_t l, uint32_t) { return v[(l + 9) % 32]; }},
      {"simd_shuffle of float4, x", [&](P v, uint32_t, uint32_t t) { return v[from[t]]; }},
      {"simd_shuffle of float4, w", [&](P v, uint32_t, uint32_t t) { return v[from[t]] + 3.0f; }},
      {"simd_shuffle_xor of half2, y", [](P v, uint32_t l, uint32_t) { return 2.0f * v[l ^ 2]; }},
      {"simd_max of half", [](P v, uint32_t, uint32_t) { return *std::max_element(v, v + 32); }},
      {"simd_sum of float2, y", [](P v, uint32_t, uint32_t) { return 2.0f * fold(v, std::plus<float>()); }},
  };
  std::vector<Bound> bound = {Bound::of(0, in), Bound::of(1, from), Bound::of(2, std::vector<float>(rows.size() * 64))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_simd_float::kernel, {}, {64, 1, 1}, bound));
  compare(rows, in, bound[2].as<float>(), 1e-5);  // for the product, whose order is unspecified
}

void check_simd_uint(Backend& backend) {
  std::mt19937_64 random(test::seed(12));
  std::vector<uint32_t> in(64);
  for (uint32_t& v : in) v = static_cast<uint32_t>(random() % 1000) * 2 + 1;
  in[40] = 0;  // all numbers are odd only in the first simdgroup
  using P = const uint32_t*;
  using U = uint32_t;
  const auto has = [](P v, U x) { return static_cast<U>(std::count(v, v + 32, x) > 0); };
  const std::vector<Row<U>> rows = {
      {"simd_or", [](P v, U, U) { return fold(v, std::bit_or<U>()); }},
      {"simd_and", [](P v, U, U) { return fold(v, std::bit_and<U>()); }},
      {"simd_sum", [](P v, U, U) { return fold(v, std::plus<U>()); }},
      {"simd_max", [](P v, U, U) { return *std::max_element(v, v + 32); }},
      {"simd_min", [](P v, U, U) { return *std::min_element(v, v + 32); }},
      {"simd_any", [&](P v, U, U) { return has(v, in[3]); }},
      {"simd_all", [](P v, U, U) { return fold(v, std::bit_and<U>()) & 1; }},
      {"simd_any of none or one", [&](P v, U, U) { return has(v, 0); }},
      {"simd_all but one", [&](P v, U, U) { return 1 - has(v, 0); }},
      {"simd_prefix_exclusive_sum", [](P v, U l, U) { return std::accumulate(v, v + l, U{0}); }},
      {"simd_shuffle of int", [](P v, U, U) { return v[4]; }},
      {"simd_shuffle_down of ushort", [](P v, U l, U) { return v[std::min(l + 1, U{31})]; }},
      {"simd_min of short", [](P v, U, U) { return *std::min_element(v, v + 32); }},
      {"simd_max of int", [](P v, U, U) { return *std::max_element(v, v + 32); }},
  };
  std::vector<Bound> bound = {Bound::of(0, in), Bound::of(1, std::vector<U>(rows.size() * 64))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_simd_uint::kernel, {}, {64, 1, 1}, bound));
  compare(rows, in, bound[1].as<U>(), 0);
}

void check_positions(Backend& backend) {
  const Size3 groups{2, 3, 2}, threads{8, 4, 2};
  const uint32_t nx = 16, ny = 12, nz = 4;
  std::vector<Bound> bound = {Bound::of(0, std::vector<uint32_t>(nx * ny * nz * 16))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_positions::kernel, groups, threads, bound));
  const auto out = bound[0].as<uint32_t>();
  for (uint32_t z = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x) {
        const uint32_t tid = (z % 2 * 4 + y % 4) * 8 + x % 8;
        const uint32_t want[16] = {x % 8, y % 4, z % 2, x / 8, y / 4,    z / 2,    nz, 8,
                                   4,     3,     2,     tid,   tid / 32, tid % 32, 2,  32};
        const uint32_t* got = out.data() + ((z * ny + y) * nx + x) * 16;
        for (int i = 0; i < 16; ++i) CHECK_EQ(got[i], want[i]);
      }
}

namespace {

void on_software(void (*check)(Backend&)) {
  auto backend = software::SoftwareBackend::create({.check_uniform = true}, generated::test_files());
  REQUIRE_OK(backend);
  check(**backend);
}

}  // namespace

PAGODA_TEST(gpu_intrinsics_simd_of_floats) { on_software(check_simd_float); }
PAGODA_TEST(gpu_intrinsics_simd_of_integers) { on_software(check_simd_uint); }
PAGODA_TEST(gpu_intrinsics_positions) { on_software(check_positions); }

}  // namespace pagoda::device::gpu::test_kernels
