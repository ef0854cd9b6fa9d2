// matmul: activations to 16 bits, then tiles of matrix products; f32 weights as they are.
#include "args/matmul.h"

#include "device/gpu/gpu_encoder.h"
#include "device/host/quantise.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kFewRows = 16;      // that matmul_few takes
constexpr int64_t kQuarterStep = 32;  // columns that matmul_tiles takes at a time

pagoda_args::Matmul args_of(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  pagoda_args::Matmul args{};
  args.x_stride = a.x.strides[0];
  args.out_stride = a.out.strides[0];
  args.rows = as_uint(a.x.shape[0]);
  args.cols = as_uint(weight.cols());
  args.out_cols = as_uint(a.out.shape[1]);
  args.padded_cols = as_uint(weight.layout().padded_cols);
  args.quarter = as_uint(round_up(ceil_divide(weight.layout().padded_cols, 4), kQuarterStep));
  args.has_bias = a.bias.is_present();
  args.silu_mul = a.silu_mul;
  return args;
}

}  // namespace

void GpuEncoder::matmul(const MatmulArgs& a) noexcept {
  const auto& weight = static_cast<const GpuWeight&>(*a.weight);
  if (weight.format() == WeightFormat::f32) matmul_float(a, weight);
  else matmul_packed(a, weight);
}

void GpuEncoder::matmul_float(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  const pagoda_args::Matmul args = args_of(a, weight);
  launch("matmul_float", {{as_uint(ceil_divide(args.out_cols, 4)), as_uint(ceil_divide(args.rows, 8))}},
         {a.x, {weight.buffer(), 0}, or_else(a.bias, a.x), a.out}, args);
}

void GpuEncoder::matmul_packed(const MatmulArgs& a, const GpuWeight& weight) noexcept {
  const WeightLayout& layout = weight.layout();
  if (!check_room(ScratchSizes::matmul(a.x.shape[0], layout.padded_cols), "matmul")) return;
  pagoda_args::MatmulRows rows{};
  rows.x_stride = a.x.strides[0];
  rows.cols = as_uint(weight.cols());
  rows.padded_cols = as_uint(layout.padded_cols);
  rows.block = as_uint(host::rotation_block(layout.padded_cols));
  const char* rows_kernel = is_quantised(weight.format())           ? "matmul_rows_rotated"
                            : weight.format() == WeightFormat::bf16 ? "matmul_rows_bfloat"
                                                                    : "matmul_rows_half";
  launch(rows_kernel, {{as_uint(a.x.shape[0])}}, {a.x, scratch_.rows, scratch_.scales}, rows);

  const pagoda_args::Matmul args = args_of(a, weight);
  const bool is_few = args.rows <= kFewRows;
  const std::string type(kernel_type(weight.format()));
  const std::string kernel =
      is_few ? "matmul_few_" + type + (args.rows <= kFewRows / 2 ? "_1" : "_2") : "matmul_tiles_" + type;
  const int64_t width = (is_few ? 16 : 64) / (a.silu_mul ? 2 : 1);  // output columns of a threadgroup
  launch(kernel,
         {{as_uint(ceil_divide(args.out_cols, width)), is_few ? 1 : as_uint(ceil_divide(args.rows, kRowsTile))}},
         {scratch_.rows,
          scratch_.scales,
          {weight.buffer(), 0},
          {weight.buffer(), layout.steps_offset},
          {weight.buffer(), layout.scales_offset},
          or_else(a.bias, a.x),
          a.out},
         args);
}

}  // namespace pagoda::device::gpu
