// qk_norm_rope: normalisation per head, then rotation of the first dims.
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const QkNormRopeArgs& args) noexcept {
  const int64_t dim = args.x.shape[2], half = args.inv_freq.shape[0];
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t h = 0; h < args.x.shape[1]; ++h) {
      const float* x = at<float>(args.x, t, h);
      double normed[kMaxHeadDim];
      const double scale = 1.0 / std::sqrt(sum_of_squares(x, dim) / static_cast<double>(dim) + args.eps);
      for (int64_t i = 0; i < dim; ++i)
        normed[i] = args.weight.is_present()
                        ? x[i] * scale * (static_cast<double>(host_data<float>(args.weight)[i]) + args.weight_offset)
                        : x[i];
      float* out = at<float>(args.out, t, h);
      for (int64_t i = 2 * half; i < dim; ++i) out[i] = static_cast<float>(normed[i]);
      for (int64_t i = 0; i < half; ++i) {
        // The angle is a float product by contract: models were trained with it, although it is far from exact at large
        // positions.
        const float angle =
            static_cast<float>(host_data<int32_t>(args.positions)[t]) * host_data<float>(args.inv_freq)[i];
        const double c = std::cos(static_cast<double>(angle)), s = std::sin(static_cast<double>(angle));
        out[i] = static_cast<float>(normed[i] * c - normed[i + half] * s);
        out[i + half] = static_cast<float>(normed[i + half] * c + normed[i] * s);
      }
    }
}

}  // namespace pagoda::device::reference
