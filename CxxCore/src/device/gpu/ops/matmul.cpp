// matmul: activations are converted to 16 bits, then multiplied in tiles; f32 weights are used unchanged.
#include "args/matmul.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kFewRows = 64;         // maximum for matmul_few
constexpr int64_t kDirectRows = 8;       // maximum that it reads as floats: rounding each time is cheaper than a launch
constexpr int64_t kMadeRows = 8;         // maximum that it computes itself, again in every threadgroup,
constexpr int64_t kMadeWeights = 65536;  // if there are not too many of those (rows of weights)
constexpr int64_t kWideWeights = 32768;  // rows of weights from which tiles read x fewer times than matmul_few,
constexpr int64_t kWideRows = 16;        // if x has more rows than this
constexpr int64_t kManyGroups = 128;     // threadgroups; fewer leave cores of a large GPU idle
constexpr int64_t kRuns = 8, kChunk = 64;  // partial sums over columns: see the kernels

// Whether rows are aligned for vectors of 16 bytes.
bool is_aligned(const Tensor& x) noexcept { return x.offset_bytes % 16 == 0 && x.strides[0] % 4 == 0; }

// Whether kernels can convert rows to bfloat16 while reading them: only rows without padding, for these formats.
bool takes_bfloats(const GpuWeight& weight) noexcept {
  const bool is_bfloat = weight.format() == WeightFormat::bf16 || is_quantised(weight.format());
  return is_bfloat && weight.cols() == weight.layout().padded_cols;
}

// Whether rounding x in every threadgroup costs more than a launch: a vocabulary of 248,320 x 2560 takes 200 us on an
// H200, and 148 if the row is rounded before. Threadgroups of the other formats wait for their weights anyway.
bool is_long_unpacking(const GpuWeight& weight) noexcept {
  return weight.kernel_format() == KernelFormat::q4 && weight.rows() >= kWideWeights;
}

// Whether a kernel can compute the rows as it reads them; of stored formats only those for single lanes can.
bool makes_itself(const MatmulArgs& a, const GpuWeight& weight, bool is_scalar) noexcept {
  return takes_bfloats(weight) && (is_scalar || !is_stored(weight.kernel_format())) && a.x.shape[0] <= kMadeRows &&
         weight.rows() <= kMadeWeights;
}

// Tiles of 8 rows of weights per threadgroup of matmul_few. A threadgroup that computes the rows of x takes more, since
// each computes them again. Stored formats have fewer kernels.
int64_t weight_tiles(int64_t weight_rows, bool is_made, bool needs_two) noexcept {
  if (weight_rows < 16 * kManyGroups && !needs_two) return 1;
  return is_made ? 4 : 2;
}

// Indexed by the tiles of 8 rows that a threadgroup takes: 1 or 2 of weights, and 1, 2, 4 or 8 of x.
struct FewKernels {
  KernelId one[4], two[4];
};

const KernelId& few_kernel(KernelFormat format, bool is_direct, int64_t rows, int64_t of_weights) noexcept {
  namespace few = kernels::matmul_few;
  static constexpr FewKernels kByFormat[] = {
      {{few::f16_1_1, few::f16_1_2, few::f16_1_4, few::f16_1_8},
       {few::f16_2_1, few::f16_2_2, few::f16_2_4, few::f16_2_8}},
      {{few::bf16_1_1, few::bf16_1_2, few::bf16_1_4, few::bf16_1_8},
       {few::bf16_2_1, few::bf16_2_2, few::bf16_2_4, few::bf16_2_8}},
      {{few::q8_1_1, few::q8_1_2, few::q8_1_4, few::q8_1_8}, {few::q8_2_1, few::q8_2_2, few::q8_2_4, few::q8_2_8}},
      {{few::q4_1_1, few::q4_1_2, few::q4_1_4, few::q4_1_8}, {few::q4_2_1, few::q4_2_2, few::q4_2_4, few::q4_2_8}},
      {{}, {few::s4_2_1, few::s4_2_2, few::s4_2_4, few::s4_2_8}},
      {{}, {few::s8_2_1, few::s8_2_2, few::s8_2_4, few::s8_2_8}},
      {{}, {few::s8f_2_1, few::s8f_2_2, few::s8f_2_4, few::s8f_2_8}}};
  static constexpr KernelId kOneDirect[] = {few::direct_bf16_1_1, few::direct_q8_1_1, few::direct_q4_1_1,
                                            few::direct_s4_1_1,   few::direct_s8_1_1, few::direct_s8f_1_1};
  static constexpr KernelId kTwoDirect[] = {few::direct_bf16_2_1, few::direct_q8_2_1, few::direct_q4_2_1,
                                            few::direct_s4_2_1,   few::direct_s8_2_1, few::direct_s8f_2_1};
  if (is_direct) return (of_weights == 1 ? kOneDirect : kTwoDirect)[static_cast<size_t>(format) - 2];
  const FewKernels& kernels = kByFormat[static_cast<size_t>(format) - 1];
  const int64_t needed = ceil_divide(rows, 8);
  return (of_weights == 1 ? kernels.one : kernels.two)[needed <= 1 ? 0 : needed <= 2 ? 1 : needed <= 4 ? 2 : 3];
}

const KernelId& fused_kernel(KernelFormat format, int64_t of_weights) noexcept {
  namespace few = kernels::matmul_few;
  static constexpr KernelId kOne[] = {few::made_bf16_1_1, few::made_q8_1_1, few::made_q4_1_1};
  static constexpr KernelId kFour[] = {few::made_bf16_4_1, few::made_q8_4_1, few::made_q4_4_1};
  return (of_weights == 1 ? kOne : kFour)[static_cast<size_t>(format) - 2];
}

const KernelId& scalar_kernel(KernelFormat format, bool is_made, int64_t rows) noexcept {
  namespace scalar = kernels::matmul_scalar;
  static constexpr KernelId kHalf[] = {scalar::f16_1, scalar::f16_2, scalar::f16_4};
  static constexpr KernelId kDirect[][3] = {{scalar::direct_bf16_1, scalar::direct_bf16_2, scalar::direct_bf16_4},
                                            {scalar::direct_q8_1, scalar::direct_q8_2, scalar::direct_q8_4},
                                            {scalar::direct_q4_1, scalar::direct_q4_2, scalar::direct_q4_4},
                                            {scalar::direct_s4_1, scalar::direct_s4_2, scalar::direct_s4_4},
                                            {scalar::direct_s8_1, scalar::direct_s8_2, scalar::direct_s8_4},
                                            {scalar::direct_s8f_1, scalar::direct_s8f_2, scalar::direct_s8f_4}};
  static constexpr KernelId kMade[][3] = {{scalar::made_bf16_1, scalar::made_bf16_2, scalar::made_bf16_4},
                                          {scalar::made_q8_1, scalar::made_q8_2, scalar::made_q8_4},
                                          {scalar::made_q4_1, scalar::made_q4_2, scalar::made_q4_4},
                                          {scalar::made_s4_1, scalar::made_s4_2, scalar::made_s4_4},
                                          {scalar::made_s8_1, scalar::made_s8_2, scalar::made_s8_4},
                                          {scalar::made_s8f_1, scalar::made_s8f_2, scalar::made_s8f_4}};
  const size_t width = rows <= 2 ? static_cast<size_t>(rows) - 1 : 2;
  if (format == KernelFormat::f16) return kHalf[width];
  return (is_made ? kMade : kDirect)[static_cast<size_t>(format) - 2][width];
}

const KernelId& tiles_kernel(KernelFormat format, bool is_wide) noexcept {
  namespace tiles = kernels::matmul_tiles;
  static constexpr KernelId kNarrow[] = {tiles::f16_4, tiles::bf16_4, tiles::q8_4, tiles::q4_4,
                                         tiles::s4_4,  tiles::s8_4,   tiles::s8f_4};
  static constexpr KernelId kWide[] = {tiles::f16_8, tiles::bf16_8, tiles::q8_8, tiles::q4_8};
  return (is_wide ? kWide : kNarrow)[static_cast<size_t>(format) - 1];
}

}  // namespace

pagoda_args::Matmul matmul_args(const MatmulArgs& a, const GpuWeight& weight, bool adds) noexcept {
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
  args.adds = adds;
  args.source.heads = args.source.dim = 1;  // kernels divide by them
  args.scales = weight.scales();
  return args;
}

bool reads_floats(const Tensor& x, const GpuWeight& weight) noexcept { return takes_bfloats(weight) && is_aligned(x); }

void GpuEncoder::launch_product(const Product& product) noexcept {
  if (!product.args.weight->pieces().empty()) return launch_pieces(product);
  const auto& weight = static_cast<const GpuWeight&>(*product.args.weight);
  if (weight.format() == WeightFormat::f32) matmul_float(product, weight);
  else if (takes_wide(product, weight)) matmul_wide(product, weight);
  else if (has_tensor_products_ && !backend_.has_wide_products() && !is_stored(weight.kernel_format()))
    matmul_tensor(product, weight);
  else matmul_packed(product, weight);
}

// Every piece makes its columns of the output.
void GpuEncoder::launch_pieces(const Product& product) noexcept {
  launch_maker(product.maker);
  int64_t first = 0;
  for (const auto& piece : product.args.weight->pieces()) {
    Product part{product.args, {}, product.adds};
    part.args.weight = piece.get();
    part.args.out = slice(part.args.out, 1, first, piece->rows());
    if (part.args.bias.is_present()) part.args.bias = slice(part.args.bias, 0, first, piece->rows());
    launch_product(part);
    first += piece->rows();
  }
}

void GpuEncoder::matmul_float(const Product& product, const GpuWeight& weight) noexcept {
  launch_maker(product.maker);
  const MatmulArgs& a = product.args;
  const pagoda_args::Matmul args = matmul_args(a, weight, product.adds);
  launch(kernels::matmul_f32::kernel, {{as_uint(ceil_divide(args.out_cols, 4)), as_uint(ceil_divide(args.rows, 8))}},
         {a.x, {weight.buffer(), 0}, or_else(a.bias, a.x), a.out}, args);
}

// Converts activations to the form that the 16-bit, 8-bit and 4-bit kernels read, in scratch. tile_rows: see
// MatmulRows.
bool GpuEncoder::prepare_rows(const Tensor& x, const MadeRows* made, const GpuWeight& weight,
                              int64_t tile_rows) noexcept {
  const WeightLayout& layout = weight.layout();
  if (!check_scratch(ScratchSizes::matmul(x.shape[0], layout.padded_cols), "matmul")) return false;
  pagoda_args::MatmulRows rows{};
  rows.cols = as_uint(weight.cols());
  rows.padded_cols = as_uint(layout.padded_cols);
  rows.tile_rows = as_uint(tile_rows);
  rows.source.heads = rows.source.dim = 1;
  if (made != nullptr) rows.source = made->source;
  const Tensor& from = made != nullptr ? made->x : x;
  rows.x_stride = from.strides[0];
  rows.is_wide = weight.cols() == layout.padded_cols && (made != nullptr || is_aligned(x));
  const Slot norm(made != nullptr ? made->weight : x), gate(made != nullptr ? made->gate : x);
  const Grid grid{{as_uint(x.shape[0])}, 256};
  if (weight.format() == WeightFormat::f16)
    launch(kernels::matmul_rows_f16::kernel, grid, {from, norm, gate, scratch_.rows, scratch_.scales}, rows);
  else launch(kernels::matmul_rows_bf16::kernel, grid, {from, norm, gate, scratch_.rows}, rows);
  return true;
}

void GpuEncoder::matmul_packed(const Product& product, const GpuWeight& weight) noexcept {
  const MatmulArgs& a = product.args;
  const WeightLayout& layout = weight.layout();
  // Prepared rows are halfs there: bfloats are rounded while they are read.
  const bool may_be_scalar = has_scalar_products_ && a.x.shape[0] <= kScalarRows &&
                             (weight.format() == WeightFormat::f16 || reads_floats(a.x, weight));
  std::optional<MadeRows> made = made_rows(product.maker);
  const bool is_few = a.x.shape[0] <= kFewRows && (weight.rows() < kWideWeights || a.x.shape[0] <= kWideRows);
  const bool is_made = made && !backend_.overlaps_launches() && makes_itself(a, weight, may_be_scalar);
  if (may_be_scalar && !is_made && weight.format() != WeightFormat::f16) made.reset();  // written as floats
  if (!made) launch_maker(product.maker);
  const bool is_direct = is_few && !made && a.x.shape[0] <= kDirectRows && reads_floats(a.x, weight) &&
                         !(is_long_unpacking(weight) && backend_.overlaps_launches());
  const bool is_prepared = !is_made && !is_direct;
  if (is_prepared && !prepare_rows(a.x, made ? &*made : nullptr, weight)) return;
  pagoda_args::Matmul args = matmul_args(a, weight, product.adds);
  if (is_prepared) args.x_stride = layout.padded_cols;
  if (is_made) args.x_stride = made->x.strides[0];
  if (is_made) args.source = made->source;
  const bool is_of_file = is_stored(weight.kernel_format());
  const bool is_scalar = may_be_scalar && is_prepared == (weight.format() == WeightFormat::f16);
  const int64_t tiles = weight_tiles(weight.rows(), is_made, is_of_file && !is_direct);
  // Tiles of 128 rows of weights, if there are enough of them to keep a large GPU busy.
  const int64_t groups_of_rows = ceil_divide(args.rows, kRowsTile);
  const bool is_wide = !is_of_file && !backend_.has_few_registers() &&
                       groups_of_rows * ceil_divide(weight.rows(), 2 * kRowsTile) >= kManyGroups;
  const int64_t tile_rows = is_scalar ? kScalarWeights  // of weights
                            : is_few  ? 8 * tiles
                            : is_wide ? 2 * kRowsTile
                                      : kRowsTile;
  const int64_t width = tile_rows / (a.silu_mul ? 2 : 1);  // output columns per threadgroup
  const uint32_t columns = as_uint(ceil_divide(args.out_cols, width));
  const Slot x = is_prepared ? Slot(scratch_.rows) : Slot(is_made ? made->x : a.x);
  const Slot scales = is_prepared ? Slot(scratch_.scales) : x, bias = or_else(a.bias, a.x);
  const Slot w(weight.buffer(), 0), steps(weight.buffer(), layout.steps_offset);
  const Slot w_scales(weight.buffer(), layout.scales_offset);
  if (is_few)
    launch(
        is_scalar ? scalar_kernel(weight.kernel_format(), is_made, args.rows)
        : is_made ? fused_kernel(weight.kernel_format(), tiles)
                  : few_kernel(weight.kernel_format(), is_direct, args.rows, tiles),
        {{columns}, 256},
        {x, scales, w, steps, w_scales, bias, is_made ? Slot(made->weight) : x, is_made ? Slot(made->gate) : x, a.out},
        args);
  else
    launch(tiles_kernel(weight.kernel_format(), is_wide), {{as_uint(groups_of_rows), columns}, 128},
           {x, scales, w, steps, w_scales, bias, a.out}, args);
}

}  // namespace pagoda::device::gpu
