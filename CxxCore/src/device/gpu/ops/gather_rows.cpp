// gather_rows: one threadgroup per requested row.
#include "args/rows.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const GatherRowsArgs& a) noexcept {
  if (!accept(a, a.rows)) return;
  pagoda_args::GatherRows args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.cols = as_uint(a.x.shape[1]);
  launch(kernels::gather_rows::kernel, {{as_uint(a.out.shape[0])}}, {a.x, a.rows, a.out}, args);
}

}  // namespace pagoda::device::gpu
