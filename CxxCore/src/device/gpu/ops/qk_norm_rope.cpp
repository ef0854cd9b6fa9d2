// qk_norm_rope: one simdgroup per head of a row.
#include "args/qk_norm_rope.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::launch_rope(const QkNormRopeArgs& a) noexcept {
  pagoda_args::QkNormRope args{};
  args.x_stride = a.x.strides[0];
  args.x_head_stride = a.x.strides[1];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.dim = as_uint(a.x.shape[2]);
  args.half_rotary = as_uint(a.inv_freq.shape[0]);
  args.eps = a.eps;
  args.weight_offset = a.weight_offset;
  args.has_weight = a.weight.is_present();
  launch(kernels::qk_norm_rope::kernel, {{as_uint(a.x.shape[1]), as_uint(a.x.shape[0])}, 32},
         {a.x, or_else(a.weight, a.inv_freq), a.positions, a.inv_freq, a.out}, args);
}

}  // namespace pagoda::device::gpu
