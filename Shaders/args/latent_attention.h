// Arguments of latent_attention.metal and cache_latents.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;  // elements
  long block_stride, slot_stride;                             // of the cache
  long table_stride;                                          // block ids from one sequence to the next
  uint num_sequences;
  uint heads;
  uint dim;         // of a cached row: a multiple of 8, at most 576
  uint value_dim;   // of the leading part of the row, the value: a multiple of 8, at most 512
  uint block_size;  // a multiple of 8
  uint max_parts;   // partitions of 256 positions for which the partial results have space
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");

struct CacheLatents {
  long x_stride;                   // elements from one token to the next
  long block_stride, slot_stride;  // of the cache
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");

}  // namespace pagoda_args
