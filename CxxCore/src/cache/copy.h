// Copy: block or slot `to` becomes a copy of `from`. The model executes copies in the given order.
#pragma once

#include <cstdint>

namespace pagoda::cache {

struct Copy {
  int32_t from = 0, to = 0;
};

}  // namespace pagoda::cache
