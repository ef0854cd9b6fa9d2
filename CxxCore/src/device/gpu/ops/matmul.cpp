// matmul: activations to 16 bits, then tiles of matrix products; f32 weights as they are.
#include "args/matmul.h"

#include "device/gpu/gpu_encoder.h"
#include "device/host/quantise.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kFewRows = 64;           // that matmul_few takes
constexpr int64_t kDirectRows = 32;        // that it takes as floats: rounding them each time costs less than a launch
constexpr int64_t kManyGroups = 128;       // threadgroups; fewer leave cores of a large GPU idle
constexpr int64_t kRuns = 8, kChunk = 64;  // sums of columns: see the kernels

pagoda_args::Matmul args_of(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  pagoda_args::Matmul args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.rows = as_uint(a.x.shape[0]);
  args.cols = as_uint(weight.cols());
  args.out_cols = as_uint(a.out.shape[1]);
  args.padded_cols = as_uint(weight.layout().padded_cols);
  args.run = as_uint(round_up(ceil_divide(weight.layout().padded_cols, kRuns), kChunk));
  args.has_bias = a.bias.is_present();
  args.silu_mul = a.silu_mul;
  return args;
}

// Whether x can be read as it lies: whole chunks, and rows that vectors of 16 bytes fit.
bool is_direct(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  return weight.format() == WeightFormat::bf16 && a.x.shape[0] <= kDirectRows &&
         weight.cols() == weight.layout().padded_cols && a.x.offset_bytes % 16 == 0 && a.x.strides[0] % 4 == 0;
}

// Tiles of 8 rows of weights that a threadgroup of matmul_few takes.
int64_t weight_tiles(int64_t rows, int64_t weight_rows) noexcept {
  return rows <= 8 && weight_rows < 16 * kManyGroups ? 1 : 2;
}

std::string few_kernel(std::string_view type, int64_t rows, int64_t of_weights) {
  const int64_t needed = ceil_divide(rows, 8), tiles = needed <= 1 ? 1 : needed <= 2 ? 2 : needed <= 4 ? 4 : 8;
  return "matmul_few_" + std::string(type) + "_" + std::to_string(of_weights) + "_" + std::to_string(tiles);
}

}  // namespace

void GpuEncoder::matmul(const MatmulArgs& a) noexcept {
  const auto& weight = static_cast<const GpuWeight&>(*a.weight);
  if (weight.format() == WeightFormat::f32) matmul_float(a, weight);
  else matmul_packed(a, weight);
}

void GpuEncoder::matmul_float(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  const pagoda_args::Matmul args = args_of(a, weight);
  launch("matmul_f32", {{as_uint(ceil_divide(args.out_cols, 4)), as_uint(ceil_divide(args.rows, 8))}},
         {a.x, {weight.buffer(), 0}, or_else(a.bias, a.x), a.out}, args);
}

// Activations as the kernels of 16, 8 and 4 bits take them, into scratch.
bool GpuEncoder::prepare_rows(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  const WeightLayout& layout = weight.layout();
  if (!check_room(ScratchSizes::matmul(a.x.shape[0], layout.padded_cols), "matmul")) return false;
  pagoda_args::MatmulRows rows{};
  rows.x_stride = a.x.strides[0];
  rows.cols = as_uint(weight.cols());
  rows.padded_cols = as_uint(layout.padded_cols);
  rows.block = as_uint(host::rotation_block(layout.padded_cols));
  const char* kernel = is_quantised(weight.format())           ? "matmul_rows_rotated"
                       : weight.format() == WeightFormat::bf16 ? "matmul_rows_bf16"
                                                               : "matmul_rows_f16";
  launch(kernel, {{as_uint(a.x.shape[0])}}, {a.x, scratch_.rows, scratch_.scales}, rows);
  return true;
}

void GpuEncoder::matmul_packed(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  const WeightLayout& layout = weight.layout();
  const bool is_as_it_lies = is_direct(a, weight);
  if (!is_as_it_lies && !prepare_rows(a, weight)) return;
  pagoda_args::Matmul args = args_of(a, weight);
  if (!is_as_it_lies) args.x_stride = layout.padded_cols;
  const bool is_few = args.rows <= kFewRows;
  const std::string_view type = is_as_it_lies ? "direct" : kernel_type(weight.format());
  const int64_t tiles = weight_tiles(args.rows, weight.rows());
  const std::string kernel = is_few ? few_kernel(type, args.rows, tiles) : "matmul_tiles_" + std::string(type);
  const int64_t width = (is_few ? 8 * tiles : kRowsTile) / (a.silu_mul ? 2 : 1);  // output columns of a threadgroup
  const uint32_t columns = as_uint(ceil_divide(args.out_cols, width));
  const Grid grid = is_few ? Grid{{columns}, 256} : Grid{{as_uint(ceil_divide(args.rows, kRowsTile)), columns}, 128};
  launch(kernel, grid,
         {is_as_it_lies ? Slot(a.x) : Slot(scratch_.rows),
          is_as_it_lies ? Slot(a.x) : Slot(scratch_.scales),
          {weight.buffer(), 0},
          {weight.buffer(), layout.steps_offset},
          {weight.buffer(), layout.scales_offset},
          or_else(a.bias, a.x),
          a.out},
         args);
}

}  // namespace pagoda::device::gpu
