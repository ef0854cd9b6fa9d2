// gather_rows: copies one row.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <cstring>

namespace pagoda::device::cpu {

using host::at;

void run_row(const Context&, const GatherRowsArgs& args, int64_t row, int) noexcept {
  std::memcpy(at<float>(args.out, row), at<float>(args.x, host_data<int32_t>(args.rows)[row]),
              static_cast<size_t>(args.x.shape[1]) * sizeof(float));
}

}  // namespace pagoda::device::cpu
