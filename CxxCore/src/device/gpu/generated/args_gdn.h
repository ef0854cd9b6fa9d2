// args/gdn.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/gdn.h"
#include "device/gpu/generated/args_causal_conv1d.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint is_wide;
  float q_scale;
  float beta_scale;

  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");

}
