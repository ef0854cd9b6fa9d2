// args/kda.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/kda.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct Kda {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, a_head_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint dk, dv;
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Kda) == 136, "host and kernel agree");

}
