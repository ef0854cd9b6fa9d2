// The ops of hyper-connections, in double precision.
#include <algorithm>
#include <cmath>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const SiluRowsArgs& args) noexcept {
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t i = 0; i < args.x.shape[1]; ++i) {
      float& x = at<float>(args.x, t)[i];
      x = static_cast<float>(silu(static_cast<double>(args.factor) * x));
    }
}

void run(const MixStreamsArgs& args) noexcept {
  const int64_t width = args.out.shape[1], all = args.x.shape[1];
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (int64_t j = i; j < all; j += width) sum += sigmoid(at<float>(args.gates, t)[j]) * at<float>(args.x, t)[j];
      at<float>(args.out, t)[i] = static_cast<float>(sum * static_cast<double>(width) / static_cast<double>(all));
    }
}

void run(const InjectStreamsArgs& args) noexcept {
  const int64_t width = args.x.shape[1];
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t s = 0; s < args.weights.shape[1]; ++s) {
      const double weight = 2 * sigmoid(static_cast<double>(args.factor) * at<float>(args.weights, t)[s]);
      for (int64_t i = 0; i < width; ++i) {
        float& to = at<float>(args.streams, t)[s * width + i];
        to = static_cast<float>(to + weight * at<float>(args.x, t)[i]);
      }
    }
}

void run(const GateStreamsArgs& args) noexcept {
  const int64_t width = args.values.shape[1];
  for (int64_t t = 0; t < args.values.shape[0]; ++t)
    for (int64_t first = 0; first < args.keys.shape[1]; first += width) {
      double product = 0;
      for (int64_t i = first; i < first + width; ++i)
        product += static_cast<double>(at<float>(args.keys, t)[i]) * at<float>(args.queries, t)[i];
      product /= std::sqrt(static_cast<double>(width));
      const double root = std::sqrt(std::max(std::abs(product), 1e-6));
      const double gate = sigmoid(product > 0 ? root : product < 0 ? -root : 0.0);
      for (int64_t i = 0; i < width; ++i)
        at<float>(args.out, t)[first + i] = static_cast<float>(gate * at<float>(args.values, t)[i]);
    }
}

}  // namespace pagoda::device::reference
