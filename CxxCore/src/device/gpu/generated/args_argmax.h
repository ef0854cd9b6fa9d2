// args/argmax.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/argmax.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct Argmax {
  long logits_stride;
  uint vocab;
  uint parts;
  uint part_size;
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");

}
