// args/rms_norm.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 9 "Shaders/args/rms_norm.h"
namespace pagoda_args {

struct RmsNorm {
  uint32_t width;
  uint32_t x_stride;
  uint32_t residual_stride;
  uint32_t out_stride;
  float eps;
  float weight_offset;
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}
