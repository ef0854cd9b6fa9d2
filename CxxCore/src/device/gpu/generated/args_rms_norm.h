// args/rms_norm.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/rms_norm.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct RmsNorm {
  uint width;
  uint x_stride;
  uint residual_stride;
  uint out_stride;
  float eps;
  float weight_offset;
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}
