// Measures the limits of this machine; takes about a second and 512 MiB.
#pragma once

#include "pagoda/bench.h"

namespace pagoda::bench {

MachineLimits measure(int32_t num_threads);  // 0 = one per core

}  // namespace pagoda::bench
