// embedding: a task per token.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {

using host::at;

void embedding(const Context& context, const EmbeddingArgs& args) noexcept {
  const auto& table = static_cast<const host::HostWeight&>(*args.table);
  const auto widen = context.kernels->widen[format_of(table.dtype())];
  context.for_each(args.out.shape[0], table.cols(), [&](int64_t t, int) {
    widen(table.row(host_data<int32_t>(args.ids)[t]), table.cols(), at<float>(args.out, t));
  });
}

}  // namespace pagoda::device::cpu
