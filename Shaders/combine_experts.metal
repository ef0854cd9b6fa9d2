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
