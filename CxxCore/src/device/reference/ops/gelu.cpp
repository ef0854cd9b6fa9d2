// gelu_mul and scale_rows, in double precision.
#include <cmath>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const GeluMulArgs& args) noexcept {
  const int64_t width = args.out.shape[1];
  for (int64_t t = 0; t < args.out.shape[0]; ++t)
    for (int64_t i = 0; i < width; ++i) {
      const double g = at<float>(args.x, t)[i], up = at<float>(args.x, t)[width + i];
      const double inner = std::sqrt(2.0 / 3.14159265358979323846) * (g + 0.044715 * g * g * g);
      at<float>(args.out, t)[i] = static_cast<float>(0.5 * g * (1.0 + std::tanh(inner)) * up);
    }
}

void run(const ScaleRowsArgs& args) noexcept {
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t i = 0; i < args.x.shape[1]; ++i) at<float>(args.x, t)[i] *= args.factor;
}

}  // namespace pagoda::device::reference
