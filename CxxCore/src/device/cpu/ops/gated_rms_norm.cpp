// gated_rms_norm of all heads of a token.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void run_row(const Context& context, const GatedRmsNormArgs& args, int64_t t, int) noexcept {
  for (int64_t h = 0; h < args.x.shape[1]; ++h)
    context.kernels->gated_norm({at<float>(args.x, t, h), nullptr, host_data<float>(args.weight), args.eps,
                                 /*weight_offset=*/0.0f, at<float>(args.out, t, h), args.x.shape[2]},
                                at<float>(args.z, t, h));
}

}  // namespace pagoda::device::cpu
