// gated_rms_norm: one simdgroup per head of a row.
#include "args/gated_rms_norm.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::launch_gated_norm(const GatedRmsNormArgs& a) noexcept {
  pagoda_args::GatedRmsNorm args{};
  args.x_stride = a.x.strides[0];
  args.x_head_stride = a.x.strides[1];
  args.z_stride = a.z.strides[0];
  args.z_head_stride = a.z.strides[1];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.dim = as_uint(a.x.shape[2]);
  args.eps = a.eps;
  launch(kernels::gated_rms_norm::kernel, {{as_uint(a.x.shape[1]), as_uint(a.x.shape[0])}, 32},
         {a.x, a.z, a.weight, a.out}, args);
}

}  // namespace pagoda::device::gpu
