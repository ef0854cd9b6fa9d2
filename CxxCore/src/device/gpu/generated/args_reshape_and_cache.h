// args/reshape_and_cache.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/reshape_and_cache.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_slot_stride, k_cache_head_stride;
  long v_block_stride, v_slot_stride, v_cache_head_stride;
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");

}
