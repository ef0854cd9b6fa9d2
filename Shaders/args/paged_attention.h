// Arguments of paged_attention.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct PagedAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;  // elements
  long k_block_stride, k_slot_stride, k_head_stride;          // of the key cache
  long v_block_stride, v_slot_stride, v_head_stride;          // of the value cache
  long table_stride;                                          // block ids from one sequence to the next
  uint num_sequences;
  uint heads, group;  // query heads, and how many of them share a KV head
  uint dim;           // a multiple of 8, at most 256
  uint block_size;    // a multiple of 8
  uint max_parts;     // partitions of 256 positions for which the partial results have space
  uint window;        // positions that a row sees, including its own (use_window)
  float scale;
  float softcap;  // (use_softcap)
  uint is_split;  // whether single tokens have one threadgroup per partition
};
static_assert(sizeof(PagedAttention) == 128, "host and kernel agree");

}  // namespace pagoda_args
