// args/embedding.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/embedding.h"
#include "device/gpu/generated/args_matmul.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {

struct Embedding {
  long out_stride;
  uint cols;
  uint padded_cols;
  Scales scales;
};
static_assert(sizeof(Embedding) == 40, "host and kernel agree");

}
