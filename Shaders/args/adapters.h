// Arguments of adapters.metal, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

// Entries of the table have three numbers: offsets of A and B in the weights, and the rank.
struct Adapters {
  long x_stride, inner_stride, out_stride;  // elements
  long experts_stride;                      // elements; ids of a token are adjacent
  uint cols;                                // of x
  uint parts;
  uint per_token;    // rows of out for each token
  uint rows_per_x;   // rows of out for each row of x
  uint has_experts;  // otherwise the table has one matrix per slot
  uint num_experts;
  uint max_rank;  // elements of inner for each part
  uint reserved;
  uint first[4], count[4];  // columns of out of each part
};
static_assert(sizeof(Adapters) == 96, "host and kernel agree");

}  // namespace pagoda_args
