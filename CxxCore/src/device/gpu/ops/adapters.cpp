// add_adapters: one simdgroup per element of A x, then one thread per column; silu_mul: one thread per element.
#include "args/adapters.h"

#include <algorithm>

#include "args/rows.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const AdapterArgs& a) noexcept {
  if (!accept(a, a.slots)) return;
  const int64_t rows = a.out.shape[0], parts = a.table.shape[2];
  const bool has_experts = a.experts.is_present();
  pagoda_args::Adapters args{};
  args.x_stride = a.x.strides[0];
  args.inner_stride = a.inner.strides[0];
  args.out_stride = a.out.strides[0];
  args.experts_stride = has_experts ? a.experts.strides[0] : 0;
  args.cols = as_uint(a.x.shape[1]);
  args.parts = as_uint(parts);
  args.per_token = as_uint(has_experts ? a.experts.shape[1] : 1);
  args.rows_per_x = as_uint(a.x.shape[0] == rows ? 1 : args.per_token);
  args.has_experts = has_experts;
  args.num_experts = as_uint(a.table.shape[1]);
  args.max_rank = as_uint(kMaxAdapterRank);
  for (int64_t p = 0; p < parts; ++p) {
    args.first[p] = as_uint(a.first[p]);
    args.count[p] = as_uint(a.count[p]);
  }
  const int64_t widest = *std::max_element(a.count.begin(), a.count.begin() + parts);
  launch(kernels::adapters_down::kernel, {{as_uint(a.max_rank), as_uint(parts), as_uint(rows)}, 32},
         {a.x, a.slots, or_else(a.experts, a.slots), a.table, a.weights, a.inner}, args);
  launch(kernels::adapters_up::kernel, {{as_uint(ceil_divide(widest, 128)), as_uint(parts), as_uint(rows)}},
         {a.slots, or_else(a.experts, a.slots), a.table, a.weights, a.inner, a.out}, args);
}

void GpuEncoder::record(const SiluMulArgs& a) noexcept {
  pagoda_args::GeluMul args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.width = as_uint(a.out.shape[1]);
  launch(kernels::silu_mul::kernel, {{as_uint(ceil_divide(a.out.shape[1], 128)), as_uint(a.out.shape[0])}},
         {a.x, a.out}, args);
}

}  // namespace pagoda::device::gpu
