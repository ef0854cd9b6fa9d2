// RowSource: how a matmul gets its rows of activations, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

// A row has `heads` heads of `dim` elements. kind 0: unchanged, head strides unused; 1: RMS norm of the row, one head;
// 2: RMS norm of each head times silu(gate); 3: times sigmoid(gate).
struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;  // elements
  uint kind;
  uint heads;  // at most 64
  uint dim;    // a multiple of 16
  float eps;
  float weight_offset;  // for kind 1
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}  // namespace pagoda_args
