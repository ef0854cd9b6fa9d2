// args/latent_attention.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/latent_attention.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long block_stride, slot_stride;
  long table_stride;
  uint num_sequences;
  uint heads;
  uint dim;
  uint value_dim;
  uint block_size;
  uint max_parts;
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");

struct CacheLatents {
  long x_stride;
  long block_stride, slot_stride;
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");

}
