// expert_matmul: rows sorted by expert on the device, which alone knows the ids; then a threadgroup for each tile of
// them and four columns.
#include "args/experts.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::expert_matmul(const ExpertMatmulArgs& a) noexcept {
  const auto& weight = static_cast<const GpuWeight&>(*a.weight);
  const WeightLayout& layout = weight.layout();
  const int64_t rows = a.out.shape[0], max_tiles = max_expert_tiles(rows, a.num_experts);
  const bool is_scaled = is_quantised(weight.format());
  if (rows == 0 || !check_room(ScratchSizes::experts(rows, a.num_experts), "expert_matmul")) return;
  if (is_scaled && !prepare_rows(a.x, nullptr, weight)) return;

  pagoda_args::ExpertTiles tiles{};
  tiles.ids_stride = a.ids.strides[0];
  tiles.tokens = as_uint(a.ids.shape[0]);
  tiles.chosen = as_uint(a.ids.shape[1]);
  tiles.num_experts = as_uint(a.num_experts);
  tiles.max_tiles = as_uint(max_tiles);
  launch(kernels::expert_tiles::kernel, {{1}, 256}, {a.ids, scratch_.expert_order, scratch_.expert_tiles}, tiles);

  pagoda_args::ExpertMatmul args{};
  args.x_stride = is_scaled ? layout.padded_cols : a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.x_share = as_uint(rows / a.x.shape[0]);
  args.cols = as_uint(is_scaled ? layout.padded_cols : weight.cols());
  args.padded_cols = as_uint(layout.padded_cols);
  args.out_cols = as_uint(a.out.shape[1]);
  args.expert_rows = as_uint(weight.rows() / a.num_experts);
  args.silu_mul = a.silu_mul;
  namespace product = kernels::expert_matmul;
  static constexpr KernelId kByFormat[] = {product::f32, product::f16, product::bf16, product::q8, product::q4};
  launch(kByFormat[static_cast<size_t>(weight.format())],
         {{as_uint(ceil_divide(a.out.shape[1], 4)), as_uint(max_tiles)}},
         {is_scaled ? Slot(scratch_.rows) : Slot(a.x),
          is_scaled ? Slot(scratch_.scales) : Slot(a.x),
          {weight.buffer(), 0},
          {weight.buffer(), layout.steps_offset},
          {weight.buffer(), layout.scales_offset},
          scratch_.expert_order,
          scratch_.expert_tiles,
          a.out},
         args);
}

}  // namespace pagoda::device::gpu
