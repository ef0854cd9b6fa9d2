// Arguments of argmax, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

struct Argmax {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint parts;      // per row
  uint part_size;  // logits per part; the last part has the remainder
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");

}  // namespace pagoda_args
