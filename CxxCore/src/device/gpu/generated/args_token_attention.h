// args/token_attention.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/token_attention.h"
#include "device/gpu/generated/args_paged_attention.h"
#include "device/gpu/generated/args_rope_and_cache.h"

namespace pagoda_args {

struct TokenAttention {
  PagedAttention attention;
  RopeAndCache rope;
};
static_assert(sizeof(TokenAttention) == 256, "host and kernel agree");

}
