// The text of gather_rows.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gather_rows_source() noexcept {
  return {"gather_rows",
R"msl(#pragma METAL fp contract(off)
// gather_rows: the selected rows, in the requested order.
#include "common.h"
#include "args/rows.h"

// Grid: [rows of out]
kernel void gather_rows(device const float* x [[buffer(0)]],
                        device const int* rows [[buffer(1)]],
                        device float* out [[buffer(2)]],
                        constant pagoda_args::GatherRows& args [[buffer(3)]],
                        uint row [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint num_threads [[threads_per_threadgroup]]) {
  device const float* from = x + long(rows[row]) * args.x_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    out[long(row) * args.out_stride + i] = from[i];
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/gather_rows.metal"
#include "Shaders/common.h"
#include "Shaders/args/rows.h"


MSL_KERNEL void gather_rows(MSL_DEVICE const float* x ,
                        MSL_DEVICE const int* rows ,
                        MSL_DEVICE float* out ,
                        MSL_CONSTANT pagoda_args::GatherRows& args ,
                        uint row ,
                        uint tid ,
                        uint num_threads ) {
  MSL_DEVICE const float* from = x + long(rows[row]) * args.x_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    out[long(row) * args.out_stride + i] = from[i];
  }
}

# 1 "gather_rows.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gather_rows)
extern "C" __global__ void __launch_bounds__(1024) gather_rows(const float* x, const int* rows, float* out, const pagoda_args::GatherRows args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  gather_rows(x, rows, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
