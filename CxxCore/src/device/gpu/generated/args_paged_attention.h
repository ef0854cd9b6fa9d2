// args/paged_attention.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/paged_attention.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct PagedAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long k_block_stride, k_slot_stride, k_head_stride;
  long v_block_stride, v_slot_stride, v_head_stride;
  long table_stride;
  uint num_sequences;
  uint heads, group;
  uint dim;
  uint block_size;
  uint max_parts;
  uint window;
  float scale;
  float softcap;
  uint is_split;
};
static_assert(sizeof(PagedAttention) == 128, "host and kernel agree");

}
