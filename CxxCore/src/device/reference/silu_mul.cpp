// silu_mul: out = silu(gate) * up.
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void silu_mul(const SiluMulArgs& args) noexcept {
  for (int64_t t = 0; t < args.gate.shape[0]; ++t)
    for (int64_t i = 0; i < args.gate.shape[1]; ++i)
      at<float>(args.out, t)[i] = static_cast<float>(silu(at<float>(args.gate, t)[i]) * at<float>(args.up, t)[i]);
}

}  // namespace pagoda::device::reference
