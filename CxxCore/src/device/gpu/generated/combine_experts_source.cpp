// The text of combine_experts.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource combine_experts_source() noexcept {
  return {"combine_experts",
R"msl(#pragma METAL fp contract(off)
// combine_experts: the weighted sum of a token's experts, in order, after the shared expert, which is scaled by its
// gate if it has one.
#include "common.h"
#include "args/experts.h"

// out may alias shared, which is therefore not const: a thread reads an element before it writes it. Grid: [tokens]
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
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 3 "Shaders/combine_experts.metal"
#include "Shaders/common.h"
#include "Shaders/args/experts.h"


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
  for (uint i = tid; i < args.cols; i += num_threads) {
    float sum = has_shared ? share * shared_out[long(token) * args.shared_stride + i] : 0.0f;
    for (uint j = 0; j < args.chosen; ++j) {
      sum = fma(row_weights[j], x[(long(token) * args.chosen + j) * args.x_stride + i], sum);
    }
    out[long(token) * args.out_stride + i] = sum;
  }
}

# 1 "combine_experts.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_combine_experts)
extern "C" __global__ void __launch_bounds__(1024) combine_experts(const float* x, const float* weights, float* shared_out, const float* gate, float* out, const pagoda_args::CombineExperts args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  combine_experts(x, weights, shared_out, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
