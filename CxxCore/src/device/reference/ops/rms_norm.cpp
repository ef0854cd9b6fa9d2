// rms_norm: optional residual addition, then normalisation of each row.
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const RmsNormArgs& args) noexcept {
  const int64_t width = args.x.shape[1];
  const float* weight = host_data<float>(args.weight);
  for (int64_t t = 0; t < args.x.shape[0]; ++t) {
    float* x = at<float>(args.x, t);
    if (args.residual.is_present())
      for (int64_t i = 0; i < width; ++i) x[i] += at<float>(args.residual, t)[i];
    const double scale = 1.0 / std::sqrt(sum_of_squares(x, width) / static_cast<double>(width) + args.eps);
    for (int64_t i = 0; i < width; ++i)
      at<float>(args.out, t)[i] =
          static_cast<float>(x[i] * scale * (static_cast<double>(weight[i]) + args.weight_offset));
  }
}

}  // namespace pagoda::device::reference
