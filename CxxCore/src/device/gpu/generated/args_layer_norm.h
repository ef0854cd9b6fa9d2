// args/layer_norm.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/layer_norm.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct LayerNorm {
  long x_stride, residual_stride, out_stride;
  uint width;
  float eps;
};
static_assert(sizeof(LayerNorm) == 32, "host and kernel agree");

}
