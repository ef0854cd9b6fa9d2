// Arguments of gated_rms_norm, shared by the kernel and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct GatedRmsNorm {
  long x_stride, x_head_stride, z_stride, z_head_stride, out_stride, out_head_stride;  // elements
  uint dim;
  float eps;
};
static_assert(sizeof(GatedRmsNorm) == 56, "host and kernel agree");

}  // namespace pagoda_args
