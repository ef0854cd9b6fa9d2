// The ops of hyper-connections for one token. Sums over streams are in their order.
#include <algorithm>
#include <cmath>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

float logistic(float x) noexcept { return 1.0f / (1.0f + std::exp(-x)); }

}  // namespace

void run_row(const Context& context, const SiluRowsArgs& args, int64_t t, int) noexcept {
  float* x = at<float>(args.x, t);
  for (int64_t i = 0; i < args.x.shape[1]; ++i) x[i] *= args.factor;
  context.kernels->sigmoid_gate(x, x, args.x.shape[1], x);
}

void run_row(const Context& context, const MixStreamsArgs& args, int64_t t, int) noexcept {
  const int64_t width = args.out.shape[1], all = args.x.shape[1];
  float* out = at<float>(args.out, t);
  std::fill_n(out, width, 0.0f);
  for (int64_t first = 0; first < all; first += width)
    context.kernels->gated_sum(at<float>(args.x, t) + first, at<float>(args.gates, t) + first, width, out);
  const float share = static_cast<float>(width) / static_cast<float>(all);
  for (int64_t i = 0; i < width; ++i) out[i] *= share;
}

void run_row(const Context& context, const InjectStreamsArgs& args, int64_t t, int) noexcept {
  const int64_t width = args.x.shape[1];
  for (int64_t s = 0; s < args.weights.shape[1]; ++s)
    context.kernels->add_scaled(at<float>(args.x, t), 2 * logistic(args.factor * at<float>(args.weights, t)[s]), width,
                                at<float>(args.streams, t) + s * width);
}

void run_row(const Context& context, const GateStreamsArgs& args, int64_t t, int) noexcept {
  const int64_t width = args.values.shape[1];
  for (int64_t first = 0; first < args.keys.shape[1]; first += width) {
    const float product =
        context.kernels->dot(at<float>(args.keys, t) + first, at<float>(args.queries, t) + first, width) /
        std::sqrt(static_cast<float>(width));
    const float root = std::sqrt(std::max(std::abs(product), 1e-6f));
    const float gate = logistic(product > 0 ? root : product < 0 ? -root : 0.0f);
    const float* values = at<float>(args.values, t);
    float* out = at<float>(args.out, t) + first;
    for (int64_t i = 0; i < width; ++i) out[i] = gate * values[i];
  }
}

}  // namespace pagoda::device::cpu
