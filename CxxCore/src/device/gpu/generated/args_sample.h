// args/sample.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/sample.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {


struct SampleRow {
  ulong top_p;
  ulong min_weight;
  ulong random;
  float temperature;
  uint top_k;
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;
  uint vocab;
  uint parts;
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}
