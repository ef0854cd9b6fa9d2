// add_adapters: A x of all rows, then B times that, in tasks of one row and some ranks or columns. silu_mul by row.
// Rows are not multiplied together: a rank of 16 reads a hundredth of what the projection itself reads.
#include <algorithm>

#include "device/cpu/cpu_ops.h"
#include "device/host/adapter_rows.h"

namespace pagoda::device::cpu {

using host::adapter_part;
using host::AdapterPart;
using host::at;

namespace {

constexpr int64_t kRanksPerTask = 8, kColumnsPerTask = 512, kLanes = 16;

// In kLanes running sums, which are added in order.
float dot(const float* a, const float* x, int64_t count) noexcept {
  float sums[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes)
    for (int64_t i = 0; i < kLanes; ++i) sums[i] += a[k + i] * x[k + i];
  for (int64_t i = 0; k < count; ++i, ++k) sums[i] += a[k] * x[k];
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

}  // namespace

void run(const Context& context, const AdapterArgs& args) noexcept {
  const int64_t rows = args.out.shape[0], parts = args.table.shape[2], cols = args.x.shape[1];
  const int64_t rank_tasks = (args.max_rank + kRanksPerTask - 1) / kRanksPerTask;
  context.for_each(rows * parts * rank_tasks, cols, [&](int64_t index, int) {
    const int64_t row = index / (parts * rank_tasks), part = index / rank_tasks % parts;
    const AdapterPart m = adapter_part(args, row, part);
    const int64_t first = index % rank_tasks * kRanksPerTask, end = std::min(m.rank, first + kRanksPerTask);
    float* inner = at<float>(args.inner, row) + part * kMaxAdapterRank;
    for (int64_t r = first; r < end; ++r) inner[r] = dot(m.a + r * cols, m.x, cols);
  });
  const int64_t widest = *std::max_element(args.count.begin(), args.count.begin() + parts);
  const int64_t tasks = (widest + kColumnsPerTask - 1) / kColumnsPerTask;
  context.for_each(rows * parts * tasks, 16 * std::min(widest, kColumnsPerTask), [&](int64_t index, int) {
    const int64_t row = index / (parts * tasks), part = index / tasks % parts, width = args.count[part];
    const AdapterPart m = adapter_part(args, row, part);
    const int64_t begin = index % tasks * kColumnsPerTask, count = std::min(width - begin, kColumnsPerTask);
    if (m.rank == 0 || count <= 0) return;
    const float* inner = at<float>(args.inner, row) + part * kMaxAdapterRank;
    float sums[kColumnsPerTask] = {};
    for (int64_t r = 0; r < m.rank; ++r)
      for (int64_t i = 0; i < count; ++i) sums[i] += inner[r] * m.b[r * width + begin + i];
    float* out = at<float>(args.out, row) + args.first[part] + begin;
    for (int64_t i = 0; i < count; ++i) out[i] += sums[i];
  });
}

void run(const Context& context, const SiluMulArgs& args) noexcept {
  const int64_t width = args.out.shape[1];
  context.for_each(args.out.shape[0], 16 * width, [&](int64_t t, int) {
    const float* gate = at<float>(args.x, t);
    context.kernels->silu_mul(gate, gate + width, width, at<float>(args.out, t));
  });
}

}  // namespace pagoda::device::cpu
