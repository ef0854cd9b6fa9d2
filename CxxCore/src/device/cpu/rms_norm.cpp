// rms_norm: a task per row.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void rms_norm(const Context& context, const RmsNormArgs& args) noexcept {
  const int64_t width = args.x.shape[1];
  context.for_each(args.x.shape[0], 2 * width, [&](int64_t t, int) {
    context.kernels->rms_norm({at<float>(args.x, t), args.residual.is_present() ? at<float>(args.residual, t) : nullptr,
                               host_data<float>(args.weight), args.eps, args.weight_offset, at<float>(args.out, t),
                               width});
  });
}

}  // namespace pagoda::device::cpu
