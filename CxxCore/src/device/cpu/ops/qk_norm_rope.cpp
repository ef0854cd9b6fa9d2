// qk_norm_rope of all heads of a token.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <cmath>

namespace pagoda::device::cpu {

using host::at;

void run_row(const Context& context, const QkNormRopeArgs& args, int64_t t, int) noexcept {
  const int64_t heads = args.x.shape[1], dim = args.x.shape[2], half = args.inv_freq.shape[0];
  const float* weight = args.weight.is_present() ? host_data<float>(args.weight) : nullptr;
  const float position = static_cast<float>(host_data<int32_t>(args.positions)[t]);
  float cos[kMaxHeadDim / 2], sin[kMaxHeadDim / 2];
  for (int64_t i = 0; i < half; ++i) {
    const float angle = position * host_data<float>(args.inv_freq)[i];
    cos[i] = std::cos(angle);
    sin[i] = std::sin(angle);
  }
  for (int64_t h = 0; h < heads; ++h)
    context.kernels->norm_rope(
        {at<float>(args.x, t, h), nullptr, weight, args.eps, args.weight_offset, at<float>(args.out, t, h), dim},
        {cos, sin, half});
}

}  // namespace pagoda::device::cpu
