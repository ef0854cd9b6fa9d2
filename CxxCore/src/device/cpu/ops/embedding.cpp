// embedding: a token's table row, as floats.
#include "device/cpu/cpu_ops.h"
#include "device/cpu/packed_weight.h"
#include "device/host/access.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {

using host::at;

void embedding(const Context& context, const EmbeddingArgs& args, int64_t t, int thread) noexcept {
  const int64_t row = host_data<int32_t>(args.ids)[t];
  float* to = at<float>(args.out, t);
  if (is_packed(args.table->format()))
    return static_cast<const PackedWeight&>(*args.table)
        .load_row(*context.kernels, row, context.matmul.rotated_of(thread), to);
  const auto& table = static_cast<const host::HostWeight&>(*args.table);
  context.kernels->widen[format_of(table.dtype())](table.row(row), table.cols(), to);
}

}  // namespace pagoda::device::cpu
