// sigmoid_gate: out = x * sigmoid(gate).
#include "args/rows.h"
#include "norms.h"

// Grid: [heads * dim / 128, tokens]. out may alias x.
[[max_total_threads_per_threadgroup(128)]]
kernel void sigmoid_gate(device const float* x [[buffer(0)]],
                         device const float* gate [[buffer(1)]],
                         device float* out [[buffer(2)]],
                         constant pagoda_args::SigmoidGate& args [[buffer(3)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]]) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.heads * args.dim) {
    return;
  }
  const long head = i / args.dim;
  const uint d = i % args.dim;
  const float value = x[long(tg.y) * args.x_stride + head * args.x_head_stride + d];
  out[long(tg.y) * args.out_stride + head * args.out_head_stride + d] =
      gated(value, gate[long(tg.y) * args.gate_stride + head * args.gate_head_stride + d]);
}
