// expert_matmul: rows are sorted by expert on the device, because only it knows the ids; then threadgroups multiply
// each tile of them: by matrix products for bfloats, 8 and 4 bits, by sums in single lanes for floats and halfs.
#include "args/experts.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kManyRows = 32;                        // per tile of expert_many
constexpr int64_t kManyOnAverage = 12;                   // rows per expert from which it beats expert_few
constexpr int64_t kFewWeights = 16, kManyWeights = 128;  // rows of weights per threadgroup of each

const KernelId& few_kernel(KernelFormat format, bool is_direct) noexcept {
  namespace few = kernels::expert_few;
  static constexpr KernelId kPrepared[] = {few::bf16, few::q8, few::q4, few::s4, few::s8, few::s8f};
  static constexpr KernelId kDirect[] = {few::direct_bf16, few::direct_q8, few::direct_q4,
                                         few::direct_s4,   few::direct_s8, few::direct_s8f};
  return (is_direct ? kDirect : kPrepared)[static_cast<size_t>(format) - static_cast<size_t>(KernelFormat::bf16)];
}

const KernelId& many_kernel(KernelFormat format) noexcept {
  namespace many = kernels::expert_many;
  static constexpr KernelId kByFormat[] = {many::bf16, many::q8, many::q4, many::s4, many::s8, many::s8f};
  return kByFormat[static_cast<size_t>(format) - static_cast<size_t>(KernelFormat::bf16)];
}

const KernelId& scalar_kernel(KernelFormat format, int64_t tokens) noexcept {
  namespace scalar = kernels::expert_scalar;
  static constexpr KernelId kOne[] = {scalar::bf16_1, scalar::q8_1, scalar::q4_1,
                                      scalar::s4_1,   scalar::s8_1, scalar::s8f_1};
  static constexpr KernelId kTwo[] = {scalar::bf16_2, scalar::q8_2, scalar::q4_2,
                                      scalar::s4_2,   scalar::s8_2, scalar::s8f_2};
  return (tokens == 1 ? kOne : kTwo)[static_cast<size_t>(format) - static_cast<size_t>(KernelFormat::bf16)];
}

uint32_t tiles_of(const ExpertMatmulArgs& a, int64_t tile_rows) noexcept {
  return as_uint(max_expert_tiles(a.out.shape[0], a.num_experts, tile_rows));
}

}  // namespace

void GpuEncoder::record(const ExpertMatmulArgs& a) noexcept {
  const auto& weight = static_cast<const GpuWeight&>(*a.weight);
  const int64_t rows = a.out.shape[0];
  if (rows == 0 || !check_scratch(ScratchSizes::experts(rows, a.num_experts), "expert_matmul")) return;
  if (is_quantised(weight.format()) || weight.format() == WeightFormat::bf16) expert_products(a, weight);
  else expert_sums(a, weight);
}

void GpuEncoder::sort_by_expert(const ExpertMatmulArgs& a, int64_t tile_rows) noexcept {
  pagoda_args::ExpertTiles tiles{};
  tiles.ids_stride = a.ids.strides[0];
  tiles.tokens = as_uint(a.ids.shape[0]);
  tiles.chosen = as_uint(a.ids.shape[1]);
  tiles.num_experts = as_uint(a.num_experts);
  tiles.tile_rows = as_uint(tile_rows);
  launch(kernels::expert_tiles::kernel, {{as_uint(a.num_experts)}, 256},
         {a.ids, scratch_.expert_order, scratch_.expert_tiles}, tiles);
}

void GpuEncoder::expert_sums(const ExpertMatmulArgs& a, const GpuWeight& weight) noexcept {
  sort_by_expert(a, kExpertRows);
  pagoda_args::ExpertMatmul args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.x_share = as_uint(a.out.shape[0] / a.x.shape[0]);
  args.cols = as_uint(weight.cols());
  args.padded_cols = as_uint(weight.layout().padded_cols);
  args.out_cols = as_uint(a.out.shape[1]);
  args.expert_rows = as_uint(weight.rows() / a.num_experts);
  args.silu_mul = a.silu_mul;
  namespace sums = kernels::expert_matmul;
  launch(weight.format() == WeightFormat::f32 ? sums::f32 : sums::f16,
         {{as_uint(ceil_divide(a.out.shape[1], 4)), tiles_of(a, kExpertRows)}},
         {a.x, {weight.buffer(), 0}, scratch_.expert_order, scratch_.expert_tiles, a.out}, args);
}

// A row gets the same bits from all three kernels.
void GpuEncoder::expert_products(const ExpertMatmulArgs& a, const GpuWeight& weight) noexcept {
  const bool has_many = a.out.shape[0] >= kManyOnAverage * a.num_experts;
  const bool is_direct = !has_many && reads_floats(a.x, weight);
  if (!is_direct && !prepare_rows(a.x, nullptr, weight)) return;
  const int64_t tile_rows = has_many ? kManyRows : kExpertRows;
  sort_by_expert(a, tile_rows);

  const WeightLayout& layout = weight.layout();
  pagoda_args::ExpertProducts args{};
  args.matmul = matmul_args({.x = a.x, .weight = a.weight, .bias = {}, .out = a.out, .silu_mul = a.silu_mul}, weight,
                            /*adds=*/false);
  if (!is_direct) args.matmul.x_stride = layout.padded_cols;
  args.x_share = as_uint(a.out.shape[0] / a.x.shape[0]);
  args.expert_rows = as_uint(weight.rows() / a.num_experts);
  const int64_t tokens = a.ids.shape[0];
  const bool is_scalar = has_scalar_products_ && is_direct && tokens <= kScalarRows;
  const int64_t of_weights = has_many ? kManyWeights : is_scalar ? kScalarWeights : kFewWeights;
  const int64_t width = of_weights / (a.silu_mul ? 2 : 1);  // columns per threadgroup
  launch(has_many    ? many_kernel(weight.kernel_format())
         : is_scalar ? scalar_kernel(weight.kernel_format(), tokens)
                     : few_kernel(weight.kernel_format(), is_direct),
         {{as_uint(ceil_divide(a.out.shape[1], width)), tiles_of(a, tile_rows)}, has_many ? 128u : 256u},
         {is_direct ? Slot(a.x) : Slot(scratch_.rows),
          {weight.buffer(), 0},
          {weight.buffer(), layout.steps_offset},
          {weight.buffer(), layout.scales_offset},
          scratch_.expert_order,
          scratch_.expert_tiles,
          a.out},
         args);
}

}  // namespace pagoda::device::gpu
