// Arguments of qk_norm_rope.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct QkNormRope {
  long x_stride, x_head_stride, out_stride, out_head_stride;  // elements
  uint dim;                                                   // at most 512
  uint half_rotary;                                           // pairs (i, i + half_rotary) are rotated
  float eps;
  float weight_offset;
  uint has_weight;
  uint reserved;
};
static_assert(sizeof(QkNormRope) == 56, "host and kernel agree");

}  // namespace pagoda_args
