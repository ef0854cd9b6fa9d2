// args/qk_norm_rope.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/qk_norm_rope.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct QkNormRope {
  long x_stride, x_head_stride, out_stride, out_head_stride;
  uint dim;
  uint half_rotary;
  float eps;
  float weight_offset;
  uint has_weight;
  uint reserved;
};
static_assert(sizeof(QkNormRope) == 56, "host and kernel agree");

}
