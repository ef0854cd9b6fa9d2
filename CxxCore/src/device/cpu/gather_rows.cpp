// gather_rows: a task per row.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <cstring>

namespace pagoda::device::cpu {

using host::at;

void gather_rows(const Context& context, const GatherRowsArgs& args) noexcept {
  const int64_t width = args.x.shape[1];
  context.for_each(args.out.shape[0], width, [&](int64_t r, int) {
    std::memcpy(at<float>(args.out, r), at<float>(args.x, host_data<int32_t>(args.rows)[r]),
                static_cast<size_t>(width) * sizeof(float));
  });
}

}  // namespace pagoda::device::cpu
