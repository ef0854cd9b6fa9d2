// layer_norm: one threadgroup per row.
#include "args/layer_norm.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const LayerNormArgs& a) noexcept {
  const bool has_residual = a.residual.is_present() && !add_to(a.x, a.residual);
  pagoda_args::LayerNorm args{};
  args.x_stride = a.x.strides[0];
  args.residual_stride = has_residual ? a.residual.strides[0] : 0;
  args.out_stride = a.out.strides[0];
  args.width = as_uint(a.x.shape[1]);
  args.eps = a.eps;
  launch(kernels::layer_norm::kernel, {{as_uint(a.x.shape[0])}, 256},
         {a.x, has_residual ? a.residual : a.weight, a.weight, a.bias, a.out}, args, {{"has_residual", has_residual}});
}

}  // namespace pagoda::device::gpu
