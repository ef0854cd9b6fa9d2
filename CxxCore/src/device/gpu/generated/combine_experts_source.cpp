// The text of combine_experts.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource combine_experts_source() noexcept {
  return {"combine_experts",
R"msl(#include "common.h"
#include "args/experts.h"
kernel void combine_experts(device const float* x [[buffer(0)]],
                            device const float* weights [[buffer(1)]],
                            device float* shared_out [[buffer(2)]],
                            device const float* gate [[buffer(3)]],
                            device float* out [[buffer(4)]],
                            constant pagoda_args::CombineExperts& args [[buffer(5)]],
                            uint token [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint num_threads [[threads_per_threadgroup]]) {
  device const float* row_weights = weights + long(token) * args.weights_stride;
  const bool has_shared = args.has_shared != 0;
  const float share = args.has_shared == 1 ? sigmoid(gate[long(token) * args.gate_stride]) : 1.0f;
  for (uint i = tid; i < args.cols; i += num_threads) {
    float sum = has_shared ? share * shared_out[long(token) * args.shared_stride + i] : 0.0f;
    for (uint j = 0; j < args.chosen; ++j) {
      sum = fma(row_weights[j], x[(long(token) * args.chosen + j) * args.x_stride + i], sum);
    }
    out[long(token) * args.out_stride + i] = sum;
  }
}
)msl",
R"msl(#define MSL_KERNEL_combine_experts(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, const float* weights, float* shared_out, const float* gate, float* out, const pagoda_args::CombineExperts args) { msl_let_dependents_begin(); msl_wait_for_inputs(); combine_experts(x, weights, shared_out, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup())); }
#define MSL_ENTRY_combine_experts MSL_KERNEL_combine_experts((1024))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
