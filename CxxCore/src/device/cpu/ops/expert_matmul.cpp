// expert_matmul: rows are packed grouped by expert; then a task computes 64 outputs of one expert for all its rows, so
// that each expert in use is read from memory once. Experts in files are multiplied in the order in which they arrive,
// which no result depends on.
#include <algorithm>
#include <cstring>

#include "device/cpu/expert_order.h"
#include "device/cpu/matmul_tile.h"
#include "device/cpu/stored/streamed_experts.h"
#include "device/host/access.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {

using host::at;

void ExpertOrder::sort(const Tensor& ids, int64_t num_experts) {
  const int64_t k = ids.shape[1], slots = ids.shape[0] * k;
  const auto expert_of = [&](int64_t slot) { return static_cast<size_t>(at<int32_t>(ids, slot / k)[slot % k]); };
  first.assign(static_cast<size_t>(num_experts) + 1, 0);
  rows.resize(static_cast<size_t>(slots));
  used.clear();
  for (int64_t slot = 0; slot < slots; ++slot) ++first[expert_of(slot) + 1];
  for (size_t e = 0; e < static_cast<size_t>(num_experts); ++e) {
    if (first[e + 1] > 0) used.push_back(static_cast<int32_t>(e));
    first[e + 1] += first[e];
  }
  for (int64_t slot = 0; slot < slots; ++slot) rows[first[expert_of(slot)]++] = static_cast<int32_t>(slot);
  for (size_t e = static_cast<size_t>(num_experts); e > 0; --e)
    first[e] = first[e - 1];  // the counting sort advanced each start to its end
  first[0] = 0;
}

namespace {

struct Task {
  const Context& context;
  const ExpertMatmulArgs& args;
  const ExpertOrder& order;
  int64_t width, rows_per_expert;  // outputs per row; weight rows per expert

  const float* x_of(int64_t slot) const noexcept {
    const bool has_own_row = args.x.shape[0] == args.out.shape[0];
    return at<float>(args.x, has_own_row ? slot : slot / args.ids.shape[1]);
  }

  // Multiplies channels [begin, begin + count) of a weight by `rows` of the order, into `out`.
  void multiply(const Weight& weight, Rows rows, int64_t begin, int64_t count, float* out, int64_t stride,
                int thread) const noexcept {
    over_pieces(weight, begin, count, [&](const Weight& piece, int64_t first, int64_t channels, int64_t at) {
      multiply_piece(piece, rows, first, channels, out + at, stride, thread);
    });
  }

  void multiply_piece(const Weight& piece, Rows rows, int64_t begin, int64_t count, float* out, int64_t stride,
                      int thread) const noexcept {
    if (is_packed(piece.format()))
      return multiply_packed(context, static_cast<const PackedWeight&>(piece), rows, begin, count, nullptr, out, stride,
                             thread);
    if (is_stored(piece.format()))
      return multiply_stored(context, static_cast<const StoredWeight&>(piece), rows, begin, count, nullptr, out, stride,
                             thread);
    const auto& weight = static_cast<const host::HostWeight&>(piece);
    const auto kernel = context.kernels->matmul[format_of(weight.dtype())];
    for (int64_t r = 0; r < rows.count; ++r)  // rows of x are scattered; the channels stay in cache
      kernel({x_of(order.rows[rows.first + r]), args.x.strides[0], weight.row(begin), weight.row_stride(), nullptr,
              out + r * stride, stride, 1, count, weight.cols()});
  }

  // Outputs from `begin` on of an expert, whose rows start at row `at_row` of `weight`.
  void run(int64_t expert, const Weight& weight, int64_t at_row, int64_t begin, int thread) const noexcept {
    constexpr int64_t kStride = 2 * kGatedChannels + kBlockChannels;
    const Rows rows{order.first[expert], order.first[expert + 1] - order.first[expert]};
    const int64_t count = std::min(kGatedChannels, width - begin), first = at_row + begin;
    float* results = context.matmul.halves + thread * context.matmul.max_rows * kStride;
    multiply(weight, rows, first, count, results, kStride, thread);
    // The second half may start in the middle of a block: the channels before it are computed and discarded.
    const int64_t skipped = has_blocks(args.weight->format()) ? (first + width) % kBlockChannels : 0;
    if (args.silu_mul)
      multiply(weight, rows, first + width - skipped, skipped + count, results + kGatedChannels, kStride, thread);
    for (int64_t r = 0; r < rows.count; ++r) {
      float* to = at<float>(args.out, order.rows[rows.first + r]) + begin;
      const float* from = results + r * kStride;
      if (args.silu_mul) context.kernels->silu_mul(from, from + kGatedChannels + skipped, count, to);
      else std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
    }
  }
};

}  // namespace

void prefetch_experts(const Weight* weight, const ExpertOrder& order, bool is_guess) noexcept {
  if (weight == nullptr || !weight->is_streamed()) return;
  const auto& experts = static_cast<const StreamedExperts&>(*weight);
  if (is_guess) experts.guess(order.used);
  else experts.prefetch(order.used);
}

Status run(const Context& context, const ExpertMatmulArgs& args, const ExpertOrder& order) noexcept {
  const int64_t slots = args.out.shape[0], width = args.out.shape[1], k = args.x.shape[1];
  const Task task{context, args, order, width, args.weight->rows() / args.num_experts};
  const bool is_streamed = args.weight->is_streamed();
  const auto* streamed = is_streamed ? static_cast<const StreamedExperts*>(args.weight) : nullptr;
  if (is_streamed) streamed->start(order.used);
  if (has_blocks(args.weight->format()))
    context.for_each(
        slots, k, [&](int64_t i, int thread) { pack_to(context, *args.weight, task.x_of(order.rows[i]), i, thread); });
  const int64_t parts = (width + kGatedChannels - 1) / kGatedChannels;
  const auto run_all = [&](size_t num_used, const auto& run) {
    context.for_each(static_cast<int64_t>(num_used) * parts, kGatedChannels * k,
                     [&](int64_t i, int thread) { run(i / parts, i % parts * kGatedChannels, thread); });
  };
  if (!is_streamed) {
    run_all(order.used.size(), [&](int64_t i, int64_t begin, int thread) {
      task.run(order.used[i], *args.weight, order.used[i] * task.rows_per_expert, begin, thread);
    });
    return ok_status();
  }
  while (true) {
    auto ready = streamed->next();
    if (!ready.is_ok()) return ready.status;
    if (ready->empty()) return ok_status();
    run_all(ready->size(), [&](int64_t i, int64_t begin, int thread) {
      const auto& [expert, weight] = (*ready)[static_cast<size_t>(i)];
      task.run(expert, *weight, 0, begin, thread);
    });
  }
}

}  // namespace pagoda::device::cpu
