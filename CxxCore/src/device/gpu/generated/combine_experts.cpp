// combine_experts.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/combine_experts.metal"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/args_experts.h"


MSL_KERNEL void combine_experts(MSL_DEVICE const float* x ,
                            MSL_DEVICE const float* weights ,
                            MSL_DEVICE float* shared_out ,
                            MSL_DEVICE const float* gate ,
                            MSL_DEVICE float* out ,
                            MSL_CONSTANT pagoda_args::CombineExperts& args ,
                            uint token ,
                            uint tid ,
                            uint num_threads ) {
  MSL_DEVICE const float* row_weights = weights + long(token) * args.weights_stride;
  const bool has_shared = args.has_shared != 0;
  const float share = args.has_shared == 1 ? sigmoid(gate[long(token) * args.gate_stride]) : 1.0f;
  for (uint i = tid; MSL_LOOP(i < args.cols); i += num_threads) {
    float sum = has_shared ? share * shared_out[long(token) * args.shared_stride + i] : 0.0f;
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      sum = fma(row_weights[j], x[(long(token) * args.chosen + j) * args.x_stride + i], sum);
    }
    out[long(token) * args.out_stride + i] = sum;
  }
}
# 1 "combine_experts.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weights", 1, BindingKind::buffer, sizeof(float), false}, {"shared_out", 2, BindingKind::buffer, sizeof(float), true}, {"gate", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::CombineExperts), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; combine_experts((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::CombineExperts*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"combine_experts", "combine_experts", msl_bindings_0, {}, 1024, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> combine_experts_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
