// layer_norm and gelu of one row. Sums have 16 lanes, element i in lane i % 16, added in order at the end.
#include <algorithm>
#include <cmath>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

constexpr int64_t kSumLanes = 16;

template <class Term>
float sum_lanes(int64_t count, Term&& term) noexcept {
  float lanes[kSumLanes] = {};
  int64_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes)
    for (int64_t lane = 0; lane < kSumLanes; ++lane) lanes[lane] += term(i + lane);
  for (int64_t lane = 0; i + lane < count; ++lane) lanes[lane] += term(i + lane);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void run_row(const Context&, const LayerNormArgs& args, int64_t row, int) noexcept {
  const int64_t width = args.x.shape[1];
  float* x = at<float>(args.x, row);
  if (args.residual.is_present()) {
    const float* residual = at<float>(args.residual, row);
    for (int64_t i = 0; i < width; ++i) x[i] += residual[i];
  }
  const float count = static_cast<float>(width);
  const float mean = sum_lanes(width, [=](int64_t i) { return x[i]; }) / count;
  const float squares = sum_lanes(width, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); });
  const float scale = 1.0f / std::sqrt(squares / count + args.eps);
  const float *weight = host_data<float>(args.weight), *bias = host_data<float>(args.bias);
  float* out = at<float>(args.out, row);
  for (int64_t i = 0; i < width; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

void run_row(const Context& context, const GeluArgs& args, int64_t row, int) noexcept {
  const int64_t width = args.x.shape[1];
  float* x = at<float>(args.x, row);
  if (args.is_exact) {
    for (int64_t i = 0; i < width; ++i) x[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
    return;
  }
  constexpr int64_t kPart = 256;
  constexpr float kSlope = 1.5957691216057308f, kCubic = 0.044715f;  // 2 sqrt(2 / pi)
  for (int64_t begin = 0; begin < width; begin += kPart) {
    const int64_t count = std::min(kPart, width - begin);
    float inner[kPart];
    for (int64_t i = 0; i < count; ++i) {
      const float value = x[begin + i];
      inner[i] = kSlope * (value + kCubic * value * value * value);
    }
    context.kernels->sigmoid_gate(x + begin, inner, count, x + begin);
  }
}

}  // namespace pagoda::device::cpu
