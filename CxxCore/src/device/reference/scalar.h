// Scalar helpers of the oracles: nonlinear functions in double, and loads of any float type.
#pragma once

#include <cmath>

#include "device/host/access.h"

namespace pagoda::device::reference {

using host::at;

inline double sigmoid(double x) noexcept { return 1.0 / (1.0 + std::exp(-x)); }
inline double silu(double x) noexcept { return x * sigmoid(x); }
inline double softplus(double x) noexcept { return x > 20.0 ? x : std::log1p(std::exp(x)); }

inline double sum_of_squares(const float* x, int64_t count) noexcept {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

// Element `index` of memory that holds f32, f16 or bf16.
inline float load(const void* data, DType dtype, int64_t index) noexcept {
  if (dtype == DType::f32) return static_cast<const float*>(data)[index];
  const uint16_t bits = static_cast<const uint16_t*>(data)[index];
  return dtype == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

inline void store(void* data, DType dtype, int64_t index, float value) noexcept {
  if (dtype == DType::f32) static_cast<float*>(data)[index] = value;
  else static_cast<uint16_t*>(data)[index] = dtype == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
}

}  // namespace pagoda::device::reference
