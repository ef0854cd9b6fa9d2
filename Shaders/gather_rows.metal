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
