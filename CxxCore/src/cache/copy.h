// Copy: block or slot `to` becomes what `from` is. The model does it, in the order given.
#pragma once

#include <cstdint>

namespace pagoda::cache {

struct Copy {
  int32_t from = 0, to = 0;
};

}  // namespace pagoda::cache
