// Mathematical functions, conversions and vectors of Tests/Kernels/intrinsics_math.metal against double precision.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "base/dtype.h"
#include "device/gpu/intrinsics.h"
#include "device/gpu/kernel_rig.h"
#include "device/gpu/software/software_backend.h"
#include "generated/bindings.h"
#include "support/test.h"

namespace pagoda::device::gpu::test_kernels {

namespace {

constexpr uint32_t kCount = 128;
constexpr double kHalfEpsilon = 0x1p-11;

std::vector<float> numbers(uint64_t seed, size_t count = kCount) {
  std::mt19937_64 random(test::seed(seed));
  std::uniform_real_distribution<float> uniform(-3.0f, 3.0f);
  std::vector<float> made(count);
  for (float& f : made) f = uniform(random);
  return made;
}

void expect(const std::string& what, double got, double want, double tolerance) {
  if (!(std::abs(got - want) <= tolerance * (1 + std::abs(want))))
    test::fail(__FILE__, __LINE__, what + ": " + std::to_string(got) + ", not " + std::to_string(want));
}

double as_half(double v) { return f16_to_f32(f32_to_f16(static_cast<float>(v))); }

// In the kernel's order: function, whether it takes |v| + 1/4, whether it is in fast::.
struct Unary {
  const char* name;
  double (*want)(double);
  bool positive, fast;
};
double rsqrt(double v) { return 1 / std::sqrt(v); }
const Unary kUnary[] = {
    {"exp", std::exp, false, false},
    {"exp2", std::exp2, false, false},
    {"log", std::log, true, false},
    {"log2", std::log2, true, false},
    {"sqrt", std::sqrt, true, false},
    {"rsqrt", rsqrt, true, false},
    {"tanh", std::tanh, false, false},
    {"sin", std::sin, false, false},
    {"cos", std::cos, false, false},
    {"floor", std::floor, false, false},
    {"ceil", std::ceil, false, false},
    {"rint", std::nearbyint, false, false},
    {"fabs", std::fabs, false, false},
    {"precise::exp", std::exp, false, false},
    {"precise::log", std::log, true, false},
    {"precise::sqrt", std::sqrt, true, false},
    {"precise::rsqrt", rsqrt, true, false},
    {"precise::sin", std::sin, false, false},
    {"precise::cos", std::cos, false, false},
    {"precise::tanh", std::tanh, false, false},
    {"fast::exp", std::exp, false, true},
    {"fast::log", std::log, true, true},
    {"fast::sqrt", std::sqrt, true, true},
    {"fast::rsqrt", rsqrt, true, true},
    {"fast::sin", std::sin, false, true},
    {"fast::cos", std::cos, false, true},
    {"fast::tanh", std::tanh, false, true},
    {"fast::exp2", std::exp2, false, true},
    {"precise::exp2", std::exp2, false, false},
    {"fast::log2", std::log2, true, true},
    {"precise::log2", std::log2, true, false},
};

}  // namespace

void check_unary(Backend& backend, const MathTolerance& tolerance) {
  const std::vector<float> in = numbers(21);
  for (const bool half : {false, true}) {
    std::vector<Bound> bound = {Bound::of(0, in), Bound::of(1, std::vector<float>(std::size(kUnary) * kCount))};
    namespace unary = kernels::intrinsics_unary;
    REQUIRE_OK(run_kernel(backend, half ? unary::f16 : unary::f32, {kCount / 32, 1, 1}, {32, 1, 1}, bound));
    const auto out = bound[1].as<float>();
    for (size_t f = 0; f < std::size(kUnary); ++f)
      for (uint32_t i = 0; i < kCount; ++i) {
        const double v = half ? as_half(in[i]) : in[i];
        const double arg = !kUnary[f].positive ? v : half ? as_half(std::abs(v) + 0.25) : std::abs(in[i]) + 0.25f;
        const double units = kUnary[f].fast ? tolerance.fast : tolerance.precise;
        expect(std::string(kUnary[f].name) + (half ? " of half" : "") + " at " + std::to_string(v), out[f * kCount + i],
               kUnary[f].want(arg), half ? 1.5 * kHalfEpsilon : units * 0x1p-23);
      }
  }
}

void check_scalar(Backend& backend, const MathTolerance& tolerance) {
  std::vector<float> a = numbers(22);
  const std::vector<float> b = numbers(23);
  a[0] = 0.0f;  // clz of 0
  constexpr int kFunctions = 17;
  std::vector<Bound> bound = {Bound::of(0, a), Bound::of(1, b), Bound::of(2, std::vector<float>(kFunctions * kCount))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_scalar::kernel, {kCount / 32, 1, 1}, {32, 1, 1}, bound));
  const auto out = bound[2].as<float>();
  for (uint32_t at = 0; at < kCount; ++at) {
    const float x = a[at], y = b[at];
    const int i = static_cast<int>(x * 100.0f), j = static_cast<int>(y * 100.0f);
    const double hx = as_half(x), hy = as_half(y);
    const double want[kFunctions] = {std::fma(x, y, 0.5f),
                                     std::min(x, y),
                                     std::max(x, y),
                                     std::clamp(x, -0.5f, 0.25f),
                                     x < y ? y : x,
                                     std::min(x, y),
                                     std::max(x, y),
                                     std::pow(std::abs(double(x)) + 0.5, double(y)),
                                     double(std::min(i, j)),
                                     double(std::max(i, j)),
                                     double(std::abs(i)),
                                     double(std::clamp(i, -7, 9)),
                                     double(std::popcount(static_cast<uint32_t>(i))),
                                     double(std::countl_zero(static_cast<uint32_t>(std::abs(i)))),
                                     std::min(hx, hy),
                                     as_half(as_half(hx * hy) + hx),
                                     double(std::max(std::abs(i), std::abs(j)))};
    for (int f = 0; f < kFunctions; ++f) {
      const double units = f == 15 ? 2 * kHalfEpsilon : f == 7 ? 4 * tolerance.precise * 0x1p-23 : 0x1p-23;
      expect("scalar function " + std::to_string(f) + " at " + std::to_string(x) + ", " + std::to_string(y),
             out[static_cast<size_t>(f) * kCount + at], want[f], f >= 8 && f != 15 ? 0 : units);
    }
  }
}

void check_conversions(Backend& backend) {
  std::mt19937_64 random(test::seed(24));
  // Ties, subnormals of half, limits, and random bits; no NaN, whose payload is unspecified.
  std::vector<uint32_t> in = {0x00000000, 0x80000000, 0x3f800000, 0x3f801000, 0x3f803000, 0x3f808000, 0x3f818000,
                              0x477fe000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x387fc000, 0x38800000,
                              0x387fe000, 0x7f7fffff, 0x00000001, 0x00800000, 0x7f800000, 0xff800000};
  while (in.size() < kCount) {
    const uint32_t bits = static_cast<uint32_t>(random());
    if ((bits & 0x7f800000) != 0x7f800000) in.push_back(bits);
    // exponents that half can hold
    if (in.size() < kCount) in.push_back((bits & 0x807fffff) | (100 + bits % 45) << 23);
  }
  std::vector<Bound> bound = {Bound::of(0, in), Bound::of(1, std::vector<uint32_t>(4 * kCount))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_convert::kernel, {kCount / 32, 1, 1}, {32, 1, 1}, bound));
  const auto out = bound[1].as<uint32_t>();
  for (uint32_t i = 0; i < kCount; ++i) {
    const float f = std::bit_cast<float>(in[i]);
    test::note("float bits " + std::to_string(in[i]));
    CHECK_EQ(out[i], uint32_t{f32_to_f16(f)});
    CHECK_EQ(out[kCount + i], uint32_t{f32_to_bf16(f)});
    CHECK_EQ(out[2 * kCount + i], std::bit_cast<uint32_t>(f16_to_f32(f32_to_f16(f))));
    CHECK_EQ(out[3 * kCount + i], uint32_t{f32_to_bf16(f)} << 16);
    if (test::failed()) return;
  }
}

void check_vectors(Backend& backend, const MathTolerance& tolerance) {
  const std::vector<float> in = numbers(25, 4 * kCount);
  constexpr int kFunctions = 24;
  std::vector<Bound> bound = {Bound::of(0, in), Bound::of(1, std::vector<float>(kFunctions * kCount)),
                              Bound::of(2, std::vector<uint16_t>(4 * kCount)),
                              Bound::of(3, std::vector<uint16_t>(4 * kCount)),
                              Bound::of(4, std::vector<float>(3 * kCount))};
  REQUIRE_OK(run_kernel(backend, kernels::intrinsics_vectors::kernel, {kCount / 32, 1, 1}, {32, 1, 1}, bound));
  const auto out = bound[1].as<float>(), packed = bound[4].as<float>();
  const auto halves = bound[2].as<uint16_t>(), bfloats = bound[3].as<uint16_t>();
  for (uint32_t at = 0; at < kCount; ++at) {
    const float* v = in.data() + 4 * at;
    const float w[4] = {v[1], v[0], 2.0f, v[3]};
    bool any = false, all = true;
    double dot = 0;
    for (int i = 0; i < 4; ++i) {
      any |= v[i] < w[i];
      all &= v[i] <= w[i];
      dot += double(v[i]) * w[i];
    }
    const uint32_t x = at ^ 3, y = 7 ^ 5;
    const double t[3] = {v[0] + 1.0, 2 * (v[1] + 1.0), 3 * (v[2] + 1.0)};
    const double want[kFunctions] = {double(v[0]) + w[0],
                                     double(v[1]) - w[1],
                                     double(v[2]) * w[2],
                                     v[3] / (double(w[3]) * w[3] + 1),
                                     dot,
                                     2.0 * v[3] + 1,
                                     -v[0],
                                     any ? 1.0 : 0.0,
                                     all ? 1.0 : 0.0,
                                     v[0] < w[0] ? w[0] : v[0],
                                     std::max(v[1], w[1]),
                                     std::min(v[2], w[2]),
                                     double(v[3]) * w[3] + v[3],
                                     std::clamp(v[0], -0.25f, 0.25f),
                                     std::exp(double(v[2])),
                                     double(static_cast<int>(v[1] * 10.0f)),
                                     double(x + (y << 1) + (y & 6) + (x | 8)),
                                     t[0] + t[1] + t[2],
                                     v[3],
                                     std::abs(v[0]),
                                     t[1],
                                     as_half(v[2]),
                                     double(bf16_to_f32(f32_to_bf16(v[3]))),
                                     as_half(as_half(v[0]) * as_half(w[1]))};
    for (int f = 0; f < kFunctions; ++f)
      expect("vector function " + std::to_string(f), out[static_cast<size_t>(f) * kCount + at], want[f],
             f == 23 ? kHalfEpsilon : 2 * tolerance.precise * 0x1p-23);
    for (uint32_t i = 0; i < 4; ++i) {
      CHECK_EQ(halves[4 * at + i], f32_to_f16(v[i]));
      CHECK_EQ(bfloats[4 * at + i], f32_to_bf16(v[i]));
      if (i < 3) expect("packed", packed[3 * at + i], t[i], 0x1p-22);
    }
  }
}

namespace {

template <class Check>
void on_software(Check check) {
  auto backend = software::SoftwareBackend::create({}, generated::test_files());
  REQUIRE_OK(backend);
  check(**backend);
}

}  // namespace

PAGODA_TEST(gpu_intrinsics_mathematical_functions) {
  on_software([](Backend& backend) { check_unary(backend, {}); });
}
PAGODA_TEST(gpu_intrinsics_functions_of_scalars) {
  on_software([](Backend& backend) { check_scalar(backend, {}); });
}
PAGODA_TEST(gpu_intrinsics_conversions) { on_software(check_conversions); }
PAGODA_TEST(gpu_intrinsics_vectors) {
  on_software([](Backend& backend) { check_vectors(backend, {}); });
}

}  // namespace pagoda::device::gpu::test_kernels
