// sigmoid_gate: out = x * sigmoid(gate).
#include "common.h"
#include "args/rows.h"

// Grid: [tokens]. out may be x.
kernel void sigmoid_gate(device const float* x [[buffer(0)]],
                         device const float* gate [[buffer(1)]],
                         device float* out [[buffer(2)]],
                         constant pagoda_args::SigmoidGate& args [[buffer(3)]],
                         uint token [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint num_threads [[threads_per_threadgroup]]) {
  for (uint i = tid; i < args.heads * args.dim; i += num_threads) {
    const long head = i / args.dim;
    const uint d = i % args.dim;
    const float value = x[long(token) * args.x_stride + head * args.x_head_stride + d];
    out[long(token) * args.out_stride + head * args.out_head_stride + d] =
        value * sigmoid(gate[long(token) * args.gate_stride + head * args.gate_head_stride + d]);
  }
}
