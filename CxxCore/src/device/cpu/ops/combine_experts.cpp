// combine_experts: one token at a time, its experts in order.
#include <algorithm>
#include <cmath>

#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void run(const Context& context, const CombineExpertsArgs& args) noexcept {
  const int64_t k = args.weights.shape[1], width = args.out.shape[1];
  context.for_each(args.out.shape[0], (k + 1) * width, [&](int64_t t, int) {
    float* out = at<float>(args.out, t);
    if (args.shared.is_present()) {
      const float gate = args.gate.is_present() ? 1.0f / (1.0f + std::exp(-at<float>(args.gate, t)[0])) : 1.0f;
      const float* shared = at<float>(args.shared, t);
      for (int64_t i = 0; i < width; ++i) out[i] = gate * shared[i];
    } else {
      std::fill_n(out, width, 0.0f);
    }
    for (int64_t j = 0; j < k; ++j) {
      const float weight = at<float>(args.weights, t)[j];
      const float* x = at<float>(args.x, t * k + j);
      for (int64_t i = 0; i < width; ++i) out[i] += weight * x[i];
    }
  });
}

}  // namespace pagoda::device::cpu
