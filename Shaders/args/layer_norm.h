// Arguments of layer_norm.metal, shared by the kernel and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct LayerNorm {
  long x_stride, residual_stride, out_stride;  // elements
  uint width;                                  // H: elements per row
  float eps;
};
static_assert(sizeof(LayerNorm) == 32, "host and kernel agree");

}  // namespace pagoda_args
