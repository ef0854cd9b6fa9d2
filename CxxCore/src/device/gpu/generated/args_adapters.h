// args/adapters.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/adapters.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {


struct Adapters {
  long x_stride, inner_stride, out_stride;
  long experts_stride;
  uint cols;
  uint parts;
  uint per_token;
  uint rows_per_x;
  uint has_experts;
  uint num_experts;
  uint max_rank;
  uint reserved;
  uint first[4], count[4];
};
static_assert(sizeof(Adapters) == 96, "host and kernel agree");

}
