// args/gated_rms_norm.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/gated_rms_norm.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct GatedRmsNorm {
  long x_stride, x_head_stride, z_stride, z_head_stride, out_stride, out_head_stride;
  uint dim;
  float eps;
};
static_assert(sizeof(GatedRmsNorm) == 56, "host and kernel agree");

}
