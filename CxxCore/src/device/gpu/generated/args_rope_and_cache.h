// args/rope_and_cache.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/rope_and_cache.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct RopeAndCache {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_slot_stride, k_cache_head_stride;
  long v_block_stride, v_slot_stride, v_cache_head_stride;
  uint q_heads, kv_heads;
  uint dim;
  uint half_rotary;
  uint block_size;
  float eps;
  float weight_offset;
  uint has_weight;
};
static_assert(sizeof(RopeAndCache) == 128, "host and kernel agree");

}
