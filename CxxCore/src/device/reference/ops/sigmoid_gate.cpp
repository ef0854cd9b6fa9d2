// sigmoid_gate: out = x * sigmoid(gate).
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const SigmoidGateArgs& args) noexcept {
  for (int64_t t = 0; t < args.x.shape[0]; ++t)
    for (int64_t h = 0; h < args.x.shape[1]; ++h)
      for (int64_t i = 0; i < args.x.shape[2]; ++i)
        at<float>(args.out, t, h)[i] =
            static_cast<float>(at<float>(args.x, t, h)[i] * sigmoid(at<float>(args.gate, t, h)[i]));
}

}  // namespace pagoda::device::reference
