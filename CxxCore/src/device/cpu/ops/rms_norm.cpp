// rms_norm of a row, with the residual added first.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void run_row(const Context& context, const RmsNormArgs& args, int64_t t, int) noexcept {
  context.kernels->rms_norm({at<float>(args.x, t), args.residual.is_present() ? at<float>(args.residual, t) : nullptr,
                             host_data<float>(args.weight), args.eps, args.weight_offset, at<float>(args.out, t),
                             args.x.shape[1]});
}

}  // namespace pagoda::device::cpu
