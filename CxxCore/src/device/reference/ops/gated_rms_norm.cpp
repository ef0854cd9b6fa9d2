// gated_rms_norm: normalisation per head, times silu(z).
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const GatedRmsNormArgs& args) noexcept {
  const int64_t dim = args.x.shape[2];
  const float* weight = host_data<float>(args.weight);
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t h = 0; h < args.x.shape[1]; ++h) {
      const float* x = at<float>(args.x, t, h);
      const float* z = at<float>(args.z, t, h);
      float* out = at<float>(args.out, t, h);
      const double scale = 1.0 / std::sqrt(sum_of_squares(x, dim) / static_cast<double>(dim) + args.eps);
      for (int64_t i = 0; i < dim; ++i) out[i] = static_cast<float>(x[i] * scale * weight[i] * silu(z[i]));
    }
}

}  // namespace pagoda::device::reference
