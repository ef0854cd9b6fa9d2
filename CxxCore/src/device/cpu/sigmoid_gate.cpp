// sigmoid_gate: a task per token, all its heads.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void sigmoid_gate(const Context& context, const SigmoidGateArgs& args) noexcept {
  const int64_t heads = args.x.shape[1], dim = args.x.shape[2];
  context.for_each(args.x.shape[0], 4 * heads * dim, [&](int64_t t, int) {
    for (int64_t h = 0; h < heads; ++h)
      context.kernels->sigmoid_gate(at<float>(args.x, t, h), at<float>(args.gate, t, h), dim,
                                    at<float>(args.out, t, h));
  });
}

}  // namespace pagoda::device::cpu
