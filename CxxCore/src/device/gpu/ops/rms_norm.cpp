// rms_norm: one threadgroup per row.
#include "args/rms_norm.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::launch_norm(const RmsNormArgs& a) noexcept {
  const bool has_residual = a.residual.is_present();
  pagoda_args::RmsNorm args{};
  args.width = as_uint(a.x.shape[1]);
  args.x_stride = as_uint(a.x.strides[0]);
  args.residual_stride = has_residual ? as_uint(a.residual.strides[0]) : 0;
  args.out_stride = as_uint(a.out.strides[0]);
  args.eps = a.eps;
  args.weight_offset = a.weight_offset;
  launch(kernels::rms_norm::kernel, {{as_uint(a.x.shape[0])}, 256},
         {a.x, or_else(a.residual, a.weight), a.weight, a.out}, args, {{"has_residual", has_residual}});
}

}  // namespace pagoda::device::gpu
