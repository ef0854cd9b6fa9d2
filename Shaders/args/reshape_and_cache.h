// Arguments of reshape_and_cache.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;    // elements
  long k_block_stride, k_slot_stride, k_cache_head_stride;  // of the key cache
  long v_block_stride, v_slot_stride, v_cache_head_stride;  // of the value cache
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");

}  // namespace pagoda_args
