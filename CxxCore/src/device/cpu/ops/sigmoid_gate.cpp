// sigmoid_gate of all heads of a token.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void run_row(const Context& context, const SigmoidGateArgs& args, int64_t t, int) noexcept {
  for (int64_t h = 0; h < args.x.shape[1]; ++h)
    context.kernels->sigmoid_gate(at<float>(args.x, t, h), at<float>(args.gate, t, h), args.x.shape[2],
                                  at<float>(args.out, t, h));
}

}  // namespace pagoda::device::cpu
