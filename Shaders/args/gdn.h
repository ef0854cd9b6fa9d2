// Arguments of gdn_*.metal, shared by the kernels and the host.
#pragma once

#include "args/causal_conv1d.h"
#include "args/types.h"

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;  // dense within a slot
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;   // at most 256 each
  uint is_wide;  // dk is 128 or 256, dv fills whole panels, and state and k_rows are aligned for vector loads
  float q_scale;
  float beta_scale;
  // gdn_decode_conv_*: the convolution that computes q, k and v, and the channels where their first heads start.
  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");

}  // namespace pagoda_args
