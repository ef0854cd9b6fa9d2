// PrefixMatch: how much of a prompt an engine has computed already, for routers that choose among engines.
#pragma once

#include <cstdint>

#include "pagoda/status.h"

namespace pagoda {

struct PrefixMatch {
  Status status;
  int32_t num_matched_tokens = 0;  // leading tokens whose KV blocks are there
  int32_t num_cached_tokens = 0;   // of those, the ones a request would not compute again: up to the last saved state
};

}  // namespace pagoda
