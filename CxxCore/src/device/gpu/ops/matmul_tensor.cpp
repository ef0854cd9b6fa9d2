// matmul by the tensor operations of Metal 4: the same kernel and the same grid of tiles for any number of rows.
#include "args/matmul.h"
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::matmul_tensor(const Product& product, const GpuWeight& weight) noexcept {
  namespace tensor = kernels::matmul_tensor;
  static constexpr KernelId kByFormat[] = {tensor::f16, tensor::bf16, tensor::q8, tensor::q4};
  static_assert(static_cast<int>(WeightFormat::f16) == 1 && static_cast<int>(WeightFormat::q4) == 4);
  constexpr int64_t kTile = 64;  // rows of x, and of weights
  const MatmulArgs& a = product.args;
  const WeightLayout& layout = weight.layout();
  const std::optional<MadeRows> made = made_rows(product.maker);
  if (!made) launch_maker(product.maker);
  if (!prepare_rows(a.x, made ? &*made : nullptr, weight)) return;
  pagoda_args::Matmul args = matmul_args(a, weight, product.adds);
  args.x_stride = layout.padded_cols;
  const int64_t width = a.silu_mul ? kTile / 2 : kTile;  // output columns per threadgroup
  launch(kByFormat[static_cast<size_t>(weight.format()) - 1],
         {{as_uint(ceil_divide(args.rows, kTile)), as_uint(ceil_divide(args.out_cols, width))}, 128},
         {Slot(scratch_.rows),
          Slot(scratch_.scales),
          {weight.buffer(), 0},
          {weight.buffer(), layout.steps_offset},
          {weight.buffer(), layout.scales_offset},
          or_else(a.bias, a.x),
          a.out},
         args);
}

}  // namespace pagoda::device::gpu
