// embedding: a token's table row, as floats.
#include "device/cpu/cpu_ops.h"
#include "device/cpu/packed_weight.h"
#include "device/cpu/stored/joined_weight.h"
#include "device/cpu/stored/stored_weight.h"
#include "device/host/access.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

void load_row(const Context& context, const Weight& weight, int64_t row, int thread, float* to) noexcept {
  float* scratch = context.matmul.rotated_of(thread);
  if (is_packed(weight.format()))
    return static_cast<const PackedWeight&>(weight).load_row(*context.kernels, row, scratch, to);
  if (is_stored(weight.format()))
    return static_cast<const StoredWeight&>(weight).load_row(row, reinterpret_cast<std::byte*>(scratch), to);
  const auto& table = static_cast<const host::HostWeight&>(weight);
  context.kernels->widen[format_of(table.dtype())](table.row(row), table.cols(), to);
}

}  // namespace

void run_row(const Context& context, const EmbeddingArgs& args, int64_t t, int thread) noexcept {
  over_pieces(*args.table, host_data<int32_t>(args.ids)[t], 1,
              [&](const Weight& weight, int64_t row, int64_t, int64_t) {
                load_row(context, weight, row, thread, at<float>(args.out, t));
              });
}

}  // namespace pagoda::device::cpu
