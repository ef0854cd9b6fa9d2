// Arguments of sample, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

// How one row's token is drawn; in device memory, one for each row.
struct SampleRow {
  float temperature;  // above 0
  float top_p;        // 1: all
  float min_p;        // 0: all
  uint top_k;         // 0: all
  uint seed_low, seed_high;
  uint index_low, index_high;  // of the token, 0 = first of the output
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint reserved;
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}  // namespace pagoda_args
