// args/causal_conv1d.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/causal_conv1d.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}
