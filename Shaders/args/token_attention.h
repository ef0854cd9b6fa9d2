// Arguments of token_attention.metal, shared by the kernels and the host.
#pragma once

#include "args/paged_attention.h"
#include "args/rope_and_cache.h"

namespace pagoda_args {

struct TokenAttention {
  PagedAttention attention;
  RopeAndCache rope;
};
static_assert(sizeof(TokenAttention) == 256, "host and kernel agree");

}  // namespace pagoda_args
