// gated_rms_norm: a task per token, all its heads.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

void gated_rms_norm(const Context& context, const GatedRmsNormArgs& args) noexcept {
  const int64_t heads = args.x.shape[1], dim = args.x.shape[2];
  context.for_each(args.x.shape[0], 4 * heads * dim, [&](int64_t t, int) {
    for (int64_t h = 0; h < heads; ++h)
      context.kernels->gated_norm({at<float>(args.x, t, h), nullptr, host_data<float>(args.weight), args.eps,
                                   /*weight_offset=*/0.0f, at<float>(args.out, t, h), dim},
                                  at<float>(args.z, t, h));
  });
}

}  // namespace pagoda::device::cpu
