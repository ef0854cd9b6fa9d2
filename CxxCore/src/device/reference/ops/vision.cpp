// layer_norm and gelu, in double precision.
#include <cmath>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const LayerNormArgs& args) noexcept {
  const int64_t width = args.x.shape[1];
  for (int64_t t = 0; t < args.x.shape[0]; ++t) {
    float* x = at<float>(args.x, t);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < width; ++i) {
      if (args.residual.is_present()) x[i] += at<float>(args.residual, t)[i];
      sum += x[i];
    }
    const double mean = sum / static_cast<double>(width);
    for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(width) + args.eps);
    for (int64_t i = 0; i < width; ++i)
      at<float>(args.out, t)[i] =
          static_cast<float>((x[i] - mean) * scale * host_data<float>(args.weight)[i] + host_data<float>(args.bias)[i]);
  }
}

void run(const GeluArgs& args) noexcept {
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t i = 0; i < args.x.shape[1]; ++i) {
      float& value = at<float>(args.x, t)[i];
      const double x = value;
      const double inner = std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
      value = static_cast<float>(0.5 * x * (1.0 + (args.is_exact ? std::erf(x / std::sqrt(2.0)) : std::tanh(inner))));
    }
}

}  // namespace pagoda::device::reference
