// gather_rows: the selected rows, in the requested order.
#include <algorithm>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const GatherRowsArgs& args) noexcept {
  for (int64_t r = 0; r < args.out.shape[0]; ++r)
    std::copy_n(at<float>(args.x, host_data<int32_t>(args.rows)[r]), args.x.shape[1], at<float>(args.out, r));
}

}  // namespace pagoda::device::reference
