// The text of gather_rows.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gather_rows_source() noexcept {
  return {"gather_rows",
R"msl(#include "common.h"
#include "args/rows.h"
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
R"msl(#define MSL_KERNEL_gather_rows(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const int* rows, float* out, const pagoda_args::GatherRows args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gather_rows(x, rows, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup())); }
#define MSL_ENTRY_gather_rows MSL_KERNEL_gather_rows((1024))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
