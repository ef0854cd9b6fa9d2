// Shared by conformance tests: tolerances with their reasons, and the comparison of every device with the reference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/rig.h"

namespace pagoda::test {

using Outputs = std::vector<std::vector<float>>;

// Accepts |got - wanted| <= absolute + relative |wanted|, comparing float results with double.
struct Tolerance {
  double absolute, relative;
};
// Devices that run the kernels of Shaders/, and the CPU with AMX tiles, have other tolerances where they round to other
// types.
struct Tolerances {
  Tolerance tolerance, in_kernels, on_tiles;
  Tolerances(Tolerance all) : tolerance(all), in_kernels(all), on_tiles(all) {}  // NOLINT: implicit on purpose
  Tolerances(Tolerance others, Tolerance kernels) : tolerance(others), in_kernels(kernels), on_tiles(others) {}
  Tolerances(Tolerance others, Tolerance kernels, Tolerance tiles)
      : tolerance(others), in_kernels(kernels), on_tiles(tiles) {}
  Tolerance of(const std::string& device_name) const;
};
inline constexpr Tolerance kExact{0, 0};              // copies and conversions
inline constexpr Tolerance kElementwise{1e-6, 2e-6};  // a few roundings and one exp with an error of 1 ulp
inline constexpr Tolerance kNorm{1e-6, 5e-6};         // the same after summing up to 1024 squares
inline constexpr Tolerance kRope{4e-6, 5e-6};         // cos and sin of angles up to 262143: float libm against double
inline constexpr Tolerance kAttention{5e-6, 1e-5};    // averages of values near 1
// Over a bf16 cache AMX rounds queries and weights to bf16, with a relative error of 2^-9: a score of 5 is then off by
// 0.01, and so is an average of few values.
inline constexpr Tolerance kAttentionBf16{1e-2, 2e-3};
inline constexpr Tolerance kRecurrent{5e-6, 2e-5};  // up to 57 steps of a contracting recurrence
// States of bfloat16 are rounded to 8 bits four times; numbers that differ in their last bits may be rounded apart.
inline constexpr Tolerance kRecurrentBf16{2e-2, 1e-2};
inline Tolerance recurrent_over(DType state) { return state == DType::bf16 ? kRecurrentBf16 : kRecurrent; }
// The error grows as sqrt(k) for random signs. Packed formats round activations too: to bf16, or to int8 with the
// largest of 128 as 127. GPU kernels round them to half for f16 weights and to bf16 for all others but f32.
Tolerances sum_of_products(int64_t k, WeightFormat format, double factor = 1);
// Kernels round queries and softmax weights to the cache's type: 11 or 8 bits. AMX tiles need a multiple of 32 dims.
Tolerances attention_over(DType type, int64_t dim);

enum class Devices { all, without_kernels };

// Runs `make` on the reference and on each device with the same seed and compares all results.
void compare(const std::string& what, const Tolerances& tolerances, const std::function<Outputs(Rig&, Random&)>& make,
             Devices devices = Devices::all);

inline constexpr WeightFormat kFormats[] = {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8,
                                            WeightFormat::q4};
inline std::string text(WeightFormat format) { return std::string(weight_format_name(format)); }
inline constexpr DType kKvTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8};
inline std::string text(DType dtype) { return std::string(dtype_name(dtype)); }
inline std::string text(std::initializer_list<int64_t> numbers) {
  std::string out;
  for (int64_t n : numbers) out += " " + std::to_string(n);
  return out;
}

}  // namespace pagoda::test
