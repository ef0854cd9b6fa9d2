// Arguments of embedding.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct Embedding {
  long out_stride;  // elements from one token to the next
  uint cols;
  uint padded_cols;  // elements of a row of the table
  uint block;        // columns that are rotated together (quantised tables)
  uint reserved;
};
static_assert(sizeof(Embedding) == 24, "host and kernel agree");

}  // namespace pagoda_args
