// gelu_mul and scale_rows: one thread per element.
#include "args/rows.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const GeluMulArgs& a) noexcept {
  pagoda_args::GeluMul args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.width = as_uint(a.out.shape[1]);
  launch(kernels::gelu_mul::kernel, {{as_uint(ceil_divide(a.out.shape[1], 128)), as_uint(a.out.shape[0])}},
         {a.x, a.out}, args);
}

void GpuEncoder::record(const GeluArgs& a) noexcept {
  pagoda_args::Gelu args{};
  args.x_stride = a.x.strides[0];
  args.width = as_uint(a.x.shape[1]);
  args.is_exact = a.is_exact;
  launch(kernels::gelu::kernel, {{as_uint(ceil_divide(a.x.shape[1], 128)), as_uint(a.x.shape[0])}}, {a.x}, args);
}

void GpuEncoder::record(const ScaleRowsArgs& a) noexcept {
  pagoda_args::ScaleRows args{};
  args.x_stride = a.x.strides[0];
  args.width = as_uint(a.x.shape[1]);
  args.factor = a.factor;
  launch(kernels::scale_rows::kernel, {{as_uint(ceil_divide(a.x.shape[1], 128)), as_uint(a.x.shape[0])}}, {a.x}, args);
}

}  // namespace pagoda::device::gpu
