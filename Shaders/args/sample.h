// Arguments of sample, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

// How one row's token is drawn; in device memory, one per row.
struct SampleRow {
  ulong top_p;       // in units of 2^-64
  ulong min_weight;  // in units of 2^-40 of the most likely token's weight
  ulong random;
  float temperature;  // above 0
  uint top_k;         // up to 64; 0: no token is requested for this row
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint parts;  // per row, 4096 logits each
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}  // namespace pagoda_args
