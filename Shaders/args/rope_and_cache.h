// Arguments of rope_and_cache.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct RopeAndCache {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long k_block_stride, k_slot_stride, k_cache_head_stride;                         // of the key cache
  long v_block_stride, v_slot_stride, v_cache_head_stride;                         // of the value cache
  uint q_heads, kv_heads;
  uint dim;          // at most 512
  uint half_rotary;  // pairs (i, i + half_rotary) are rotated
  uint block_size;
  float eps;
  float weight_offset;
  uint has_weight;
};
static_assert(sizeof(RopeAndCache) == 128, "host and kernel agree");

}  // namespace pagoda_args
