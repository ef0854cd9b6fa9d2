// matmul: a task per tile of outputs and rows; k is never split.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <algorithm>

#include "device/host/host_weight.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

constexpr int64_t kTileColumns = 64;  // outputs of one task
constexpr int64_t kMaxRows = 96;      // rows of one task: what a kernel widens weights for at once

}  // namespace

void matmul(const Context& context, const MatmulArgs& args) noexcept {
  const auto& weight = static_cast<const host::HostWeight&>(*args.weight);
  const int64_t m = args.x.shape[0], n = weight.rows(), k = weight.cols();
  const int64_t row_tiles = (m + kMaxRows - 1) / kMaxRows, rows = row_tiles > 0 ? (m + row_tiles - 1) / row_tiles : 0;
  const int64_t column_tiles = (n + kTileColumns - 1) / kTileColumns;
  const auto kernel = context.kernels->matmul[format_of(weight.dtype())];
  context.for_each(row_tiles * column_tiles, std::min(m, rows) * kTileColumns * k / 8, [&](int64_t index, int) {
    const int64_t m0 = index / column_tiles * rows, n0 = index % column_tiles * kTileColumns;
    kernel({at<float>(args.x, m0), args.x.strides[0], weight.row(n0), weight.row_stride(),
            args.bias.is_present() ? host_data<float>(args.bias) + n0 : nullptr, at<float>(args.out, m0) + n0,
            args.out.strides[0], std::min(rows, m - m0), std::min(kTileColumns, n - n0), k});
  });
}

}  // namespace pagoda::device::cpu
