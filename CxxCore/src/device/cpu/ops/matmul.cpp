// matmul: rows are packed (pack_row), then each task computes a range of outputs for all rows; k is never split.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <algorithm>

#include "device/cpu/matmul_tile.h"
#include "device/host/host_weight.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

constexpr int64_t kMaxFloatRows = 96;  // rows per pass of the float kernel, which widens weights once for all of them

// Computes outputs [begin, begin + count) of a piece for all rows into `out`. has_blocks(): begin is a multiple of 16.
void multiply_piece(const Context& context, const MatmulArgs& args, const Weight& piece, int64_t begin, int64_t count,
                    const float* bias, float* out, int64_t out_stride, int thread) noexcept {
  const int64_t m = args.x.shape[0];
  if (is_packed(piece.format()))
    return multiply_packed(context, static_cast<const PackedWeight&>(piece), {0, m}, begin, count, bias, out,
                           out_stride, thread);
  if (is_stored(piece.format()))
    return multiply_stored(context, static_cast<const StoredWeight&>(piece), {0, m}, begin, count, bias, out,
                           out_stride, thread);
  const auto& weight = static_cast<const host::HostWeight&>(piece);
  const auto kernel = context.kernels->matmul[format_of(weight.dtype())];
  for (int64_t row = 0; row < m; row += kMaxFloatRows)
    kernel({at<float>(args.x, row), args.x.strides[0], weight.row(begin), weight.row_stride(), bias,
            out + row * out_stride, out_stride, std::min(kMaxFloatRows, m - row), count, weight.cols()});
}

void multiply(const Context& context, const MatmulArgs& args, int64_t begin, int64_t count, float* out,
              int64_t out_stride, int thread) noexcept {
  const float* bias = args.bias.is_present() ? host_data<float>(args.bias) + begin : nullptr;
  over_pieces(*args.weight, begin, count, [&](const Weight& piece, int64_t first, int64_t rows, int64_t at) {
    multiply_piece(context, args, piece, first, rows, bias ? bias + at : nullptr, out + at, out_stride, thread);
  });
}

// Outputs [begin, begin + count) of silu(gate) * up. The second half may start in the middle of a block: the channels
// between the block's first and it are computed and discarded.
void multiply_gated(const Context& context, const MatmulArgs& args, int64_t begin, int64_t count, int thread) noexcept {
  const int64_t m = args.x.shape[0], other = args.out.shape[1] + begin,
                skipped = has_blocks(args.weight->format()) ? other % kBlockChannels : 0;
  constexpr int64_t kStride = 2 * kGatedChannels + kBlockChannels;
  float* halves = context.matmul.halves + thread * context.matmul.max_rows * kStride;
  multiply(context, args, begin, count, halves, kStride, thread);
  multiply(context, args, other - skipped, skipped + count, halves + kGatedChannels, kStride, thread);
  for (int64_t row = 0; row < m; ++row)
    context.kernels->silu_mul(halves + row * kStride, halves + row * kStride + kGatedChannels + skipped, count,
                              at<float>(args.out, row) + begin);
}

}  // namespace

void run_row(const Context& context, const MatmulArgs& args, int64_t row, int thread) noexcept {
  pack_to(context, *args.weight, at<float>(args.x, row), row, thread);
}

void run(const Context& context, const MatmulArgs& args) noexcept {
  const int64_t m = args.x.shape[0], width = args.out.shape[1], k = args.x.shape[1];
  if (m == 0) return;
  // Tasks of whole groups of four blocks, about eight per thread: if a thread is delayed, the others take more of them.
  const int64_t granule = kGatedChannels, wanted = width / (context.pool->num_threads() * 8);
  const int64_t step = args.silu_mul ? granule : std::max(granule, wanted / granule * granule);
  context.for_each((width + step - 1) / step, std::min(step, width) * k / 8 * m, [&](int64_t index, int thread) {
    const int64_t begin = index * step, count = std::min(step, width - begin);
    if (args.silu_mul) multiply_gated(context, args, begin, count, thread);
    else multiply(context, args, begin, count, at<float>(args.out, 0) + begin, args.out.strides[0], thread);
  });
}

}  // namespace pagoda::device::cpu
