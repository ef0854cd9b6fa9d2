// matmul of many rows for matrix units that read one operand from threadgroup memory, with the bits of the usual
// kernels.
#include "args/matmul.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kLeastRows = 256;   // with fewer, matmul_tiles has more threadgroups
constexpr int64_t kWeightRows = 128;  // per threadgroup
constexpr int64_t kProcessors = 132;  // of the GPUs that have these units
constexpr int64_t kLayoutRows = 8;    // the layout of x has a multiple of this many

// Rows of x per threadgroup: with more, both operands are read fewer times, but a small product occupies fewer
// multiprocessors.
int64_t rows_per_tile(int64_t rows, int64_t groups) noexcept {
  constexpr int64_t kNarrow = 128, kWide = 192;
  const auto waves = [&](int64_t tile) { return ceil_divide(ceil_divide(rows, tile) * groups, kProcessors) * tile; };
  return waves(kWide) <= waves(kNarrow) ? kWide : kNarrow;
}

}  // namespace

bool GpuEncoder::takes_wide(const Product& product, const GpuWeight& weight) const noexcept {
  const int64_t rows = product.args.x.shape[0];
  return has_tensor_products_ && backend_.has_wide_products() && !is_stored(weight.kernel_format()) &&
         rows >= kLeastRows &&
         ScratchSizes::matmul(round_up(rows, kLayoutRows), weight.layout().padded_cols).fits(scratch_.sizes);
}

void GpuEncoder::matmul_wide(const Product& product, const GpuWeight& weight) noexcept {
  namespace wide = kernels::matmul_wide;
  static constexpr KernelId kNarrow[] = {wide::f16_16, wide::bf16_16, wide::q8_16, wide::q4_16};
  static constexpr KernelId kWide[] = {wide::f16_24, wide::bf16_24, wide::q8_24, wide::q4_24};
  static_assert(static_cast<int>(WeightFormat::f16) == 1 && static_cast<int>(WeightFormat::q4) == 4);
  const MatmulArgs& a = product.args;
  const WeightLayout& layout = weight.layout();
  const std::optional<MadeRows> made = made_rows(product.maker);
  if (!made) launch_maker(product.maker);
  const int64_t rows = a.x.shape[0];
  if (!prepare_rows(a.x, made ? &*made : nullptr, weight, round_up(rows, kLayoutRows))) return;
  pagoda_args::Matmul args = matmul_args(a, weight, product.adds);
  args.x_stride = layout.padded_cols;
  const int64_t groups = ceil_divide(args.out_cols, a.silu_mul ? kWeightRows / 2 : kWeightRows);
  const int64_t tile = rows_per_tile(rows, groups);
  const KernelId& kernel = (tile > 128 ? kWide : kNarrow)[static_cast<size_t>(weight.format()) - 1];
  const Slot x(scratch_.rows), scales(scratch_.scales), w(weight.buffer(), 0);
  const Slot steps(weight.buffer(), layout.steps_offset), w_scales(weight.buffer(), layout.scales_offset);
  launch(kernel, {{as_uint(ceil_divide(rows, tile)), as_uint(groups)}, 256},
         {x, scales, w, steps, w_scales, or_else(a.bias, a.x), a.out}, args);
}

}  // namespace pagoda::device::gpu
