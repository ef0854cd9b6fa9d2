// Limits of the machine, for the public headers.
#include "pagoda/bench.h"

#include "api/guard.h"
#include "bench/limits.h"

namespace pagoda {

MachineLimits measure_limits(int32_t num_threads) noexcept {
  return api::guarded_result<MachineLimits>([&](MachineLimits& limits) {
    limits = bench::measure(num_threads);
    return limits.status;
  });
}

}  // namespace pagoda
