// embedding: one table row per token.
#include "device/host/host_weight.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {

void run(const EmbeddingArgs& args) noexcept {
  const auto& table = static_cast<const host::HostWeight&>(*args.table);
  for (int64_t t = 0; t < args.out.shape[0]; ++t)
    host::to_f32(table.row(host_data<int32_t>(args.ids)[t]), table.dtype(), table.cols(), at<float>(args.out, t));
}

}  // namespace pagoda::device::reference
