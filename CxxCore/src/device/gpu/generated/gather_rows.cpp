// gather_rows.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/gather_rows.metal"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/args_rows.h"


MSL_KERNEL void gather_rows(MSL_DEVICE const float* x ,
                        MSL_DEVICE const int* rows ,
                        MSL_DEVICE float* out ,
                        MSL_CONSTANT pagoda_args::GatherRows& args ,
                        uint row ,
                        uint tid ,
                        uint num_threads ) {
  MSL_DEVICE const float* from = x + long(rows[row]) * args.x_stride;
  for (uint i = tid; MSL_LOOP(i < args.cols); i += num_threads) {
    out[long(row) * args.out_stride + i] = from[i];
  }
}
# 1 "gather_rows.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"rows", 1, BindingKind::buffer, sizeof(int), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::GatherRows), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gather_rows((const float*)in.buffers[0], (const int*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::GatherRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"gather_rows", "gather_rows", msl_bindings_0, {}, 1024, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gather_rows_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
