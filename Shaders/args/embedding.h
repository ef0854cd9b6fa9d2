// Arguments of embedding.metal, shared by the kernels and the host.
#pragma once

#include "args/matmul.h"
#include "args/types.h"

namespace pagoda_args {

struct Embedding {
  long out_stride;  // elements from one token to the next
  uint cols;
  uint padded_cols;  // elements per row of the table
  Scales scales;     // of stored formats
};
static_assert(sizeof(Embedding) == 40, "host and kernel agree");

}  // namespace pagoda_args
