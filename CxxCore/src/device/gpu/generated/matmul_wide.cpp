// matmul_wide.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/matmul_wide.metal"
#include "device/gpu/generated/wide_tile.h"

MSL_CONSTANT constexpr uint kPassTiles = 4;
MSL_CONSTANT constexpr uint kSumsRow = 20;
# 11 "Shaders/matmul_wide.metal"
template <typename T, uint BITS, uint MADE>
METAL_FUNC void write_sums(MSL_CONSTANT pagoda_args::Matmul& args, MSL_THREADGROUP const float* sums,
                           MSL_DEVICE const float* x_scales, MSL_DEVICE const float* w_scales, MSL_DEVICE const float* bias,
                           MSL_DEVICE float* out, uint m0, uint tile, uint lane) {
  constexpr uint STEP = 32 / MADE;
  const uint r = lane % MADE;
  const uint column = tile * MADE + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);
  const uint m = m0 + lane / MADE;
  const uint end = column < args.out_cols ? args.rows : 0;
  MSL_DEVICE float* to = out + long(m) * args.out_stride + column;
  float value[MADE];
  float before[MADE];

  for (uint i = 0; i < MADE; ++i) {
    const uint row = lane / MADE + STEP * i;
    const float x_scale = row_scale(x_scales, min(args.rows - 1, m + STEP * i), T(0.0f));
    value[i] = finish(sums[row * kSumsRow + r], x_scale, terms.scale, terms.bias);
    if (MADE == 8) {
      value[i] = silu(value[i]) * finish(sums[row * kSumsRow + 8 + r], x_scale, terms.other_scale, terms.other_bias);
    }
  }
  if (args.adds != 0) {

    for (uint i = 0; i < MADE; ++i) {
      before[i] = m + STEP * i < end ? to[long(STEP * i) * args.out_stride] : 0.0f;
    }

    for (uint i = 0; i < MADE; ++i) {
      value[i] = before[i] + value[i];
    }
  }

  for (uint i = 0; i < MADE; ++i) {
    if (m + STEP * i < end) {
      to[long(STEP * i) * args.out_stride] = value[i];
    }
  }
}


template <typename T, uint BITS, uint TILES>

MSL_KERNEL void matmul_wide(MSL_DEVICE const T* x ,
                        MSL_DEVICE const float* x_scales ,
                        MSL_DEVICE const uint* w ,
                        MSL_DEVICE const ushort* w_steps ,
                        MSL_DEVICE const float* w_scales ,
                        MSL_DEVICE const float* bias ,
                        MSL_DEVICE float* out ,
                        MSL_CONSTANT pagoda_args::Matmul& args ,
                        uint2 tg ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  MSL_TG_VAR(1, shared_words, [8*kWideScratch], uint)
  MSL_THREADGROUP uint* scratch = shared_words + sg * kWideScratch;
  const uint tile = tg.y * 8 + sg;
  const uint m0 = tg.x * 8 * TILES;
  const uint rows = (args.rows + 7) / 8 * 8;
  ulong w_at[2];
  Share<BITS> w_next[2];

  for (uint i = 0; i < 2; ++i) {
    w_at[i] = ulong(weight_row(args, tile, 8 * i + lane / 4, 16)) * args.padded_cols + lane % 4 * 16;
    load_share(w, w_steps, args.scales, w_at[i], 0, w_next[i]);
  }
  SumTile total[2][TILES];
  multiply_wide<T, BITS, TILES>(total, (MSL_DEVICE const uint*)(x) + ulong(m0) * (kChunk / 2), w, w_steps, rows, rows - m0,
                                w_at, w_next, args, scratch, tid, lane);


  for (uint first = 0; first < TILES; first += kPassTiles) {

    for (uint t = 0; t < kPassTiles; ++t) {

      for (uint i = 0; i < 2; ++i) {
        simdgroup_store(total[i][first + t], (MSL_THREADGROUP float*)(scratch) + 8 * t * kSumsRow + 8 * i, kSumsRow,
                        ulong2(0, 0), true);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (args.silu_mul != 0) {
      write_sums<T, BITS, 8>(args, (MSL_THREADGROUP const float*)(scratch), x_scales, w_scales, bias, out, m0 + 8 * first,
                             tile, lane);
    } else {
      write_sums<T, BITS, 16>(args, (MSL_THREADGROUP const float*)(scratch), x_scales, w_scales, bias, out, m0 + 8 * first,
                              tile, lane);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}
# 1 "matmul_wide.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<half, 16, 16>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<bfloat, 16, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<bfloat, 8, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<bfloat, 4, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<half, 16, 24>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<bfloat, 16, 24>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<bfloat, 8, 24>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_wide<bfloat, 4, 24>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_wide_f16_16", "matmul_wide", msl_bindings_0, {}, 256, msl_entry_0},
  {"matmul_wide_bf16_16", "matmul_wide", msl_bindings_1, {}, 256, msl_entry_1},
  {"matmul_wide_q8_16", "matmul_wide", msl_bindings_1, {}, 256, msl_entry_2},
  {"matmul_wide_q4_16", "matmul_wide", msl_bindings_1, {}, 256, msl_entry_3},
  {"matmul_wide_f16_24", "matmul_wide", msl_bindings_0, {}, 256, msl_entry_4},
  {"matmul_wide_bf16_24", "matmul_wide", msl_bindings_1, {}, 256, msl_entry_5},
  {"matmul_wide_q8_24", "matmul_wide", msl_bindings_1, {}, 256, msl_entry_6},
  {"matmul_wide_q4_24", "matmul_wide", msl_bindings_1, {}, 256, msl_entry_7},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_wide_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
