// Arguments of gdn_*.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;  // dense within a slot
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;   // at most 256 each
  uint is_wide;  // dk is 128 or 256, dv full panels, and state and k_rows lie so that vectors fit
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Gdn) == 144, "host and kernel agree");

}  // namespace pagoda_args
