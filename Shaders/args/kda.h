// Arguments of kda.metal, shared by the kernel and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct Kda {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long a_stride, a_head_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;  // dense within a slot
  uint dk, dv;                                                                         // dk at most 256
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Kda) == 136, "host and kernel agree");

}  // namespace pagoda_args
