// Arguments of rms_norm, shared by the kernel and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct RmsNorm {
  uint width;            // H: elements per row
  uint x_stride;         // elements between rows of x
  uint residual_stride;  // of residual
  uint out_stride;       // of out
  float eps;
  float weight_offset;  // 1 for zero-centred weights
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}  // namespace pagoda_args
