// Arguments of causal_conv1d.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;  // elements from one row to the next
  long tail_slot_stride, tail_row_stride;    // elements
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}  // namespace pagoda_args
