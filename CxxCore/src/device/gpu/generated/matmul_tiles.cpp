// matmul_tiles.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/matmul_tiles.metal"
#include "device/gpu/generated/matmul.h"


template <typename T, uint BITS>

MSL_KERNEL void matmul_tiles(MSL_DEVICE const T* x ,
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
  constexpr uint ROWS = 64;
  constexpr uint LD = kChunk / 2 + 4;
  constexpr uint STAGE = 2 * ROWS * LD;
  constexpr uint SCRATCH = 4 * kTileScratch;
  constexpr uint SUMS = ROWS * ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  MSL_TG_VAR(1, shared_words, [SHARED], uint)
  MSL_THREADGROUP uint* w_tile = shared_words;
  MSL_THREADGROUP uint* x_tile = shared_words + ROWS * LD;
  MSL_THREADGROUP uint* scratch = shared_words + STAGE + sg * kTileScratch;

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;

  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  ulong w_at[2];
  ulong x_at[2];

  for (uint i = 0; i < 2; ++i) {
    const uint r = stage_row + 32 * i;
    w_at[i] = ulong(weight_row(args, tg.y, r, ROWS)) * args.padded_cols + tid % 4 * 16;
    x_at[i] = ulong(min(m0 + r, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[4][4];
  SumTile total[4][4];

  for (uint i = 0; i < 4; ++i) {

    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[2];
  uint x_next[2][kChunkTiles];

  for (uint i = 0; i < 2; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; MSL_LOOP(k0 < args.padded_cols); k0 += kChunk) {

    for (uint i = 0; i < 2; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      const uint at = (stage_row + 32 * i) * LD + stage_word;
      store_words(words, w_tile + at);
      store_words(x_next[i], x_tile + at);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {

      for (uint i = 0; i < 2; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint w_words[4][kChunkTiles];
    uint x_words[4][kChunkTiles];

    for (uint i = 0; i < 4; ++i) {
      load_words((MSL_THREADGROUP const uint*)(w_tile + (sg_n + 8 * i + lane / 4) * LD + lane % 4 * 8), w_words[i]);
      load_words((MSL_THREADGROUP const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
    chunk_multiply<T, 4, 4>(acc, w_words, x_words, scratch, lane);
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;

      for (uint i = 0; i < 4; ++i) {

        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(shared_words);

  for (uint i = 0; i < 4; ++i) {

    for (uint t = 0; t < 4; ++t) {
      simdgroup_store(total[i][t], sums + (sg_m + 8 * t) * ROWS + sg_n + 8 * i, ROWS, ulong2(0, 0), true);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; MSL_LOOP(i < made * ROWS); i += 128) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg.y * made + r;
    if (m0 + m < args.rows && column < args.out_cols) {
      write_out(args, x_scales, w_scales, bias, out, m0 + m, column, sums[m * ROWS + r],
                args.silu_mul != 0 ? sums[m * ROWS + made + r] : 0.0f, true, BITS < 16);
    }
  }
}

# 1 "matmul_tiles.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 16>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<bfloat, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_2 = 128;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_3 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_tiles_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"matmul_tiles_f16", "matmul_tiles", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"matmul_tiles_bf16", "matmul_tiles", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"matmul_tiles_q8", "matmul_tiles", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
    {"matmul_tiles_q4", "matmul_tiles", metal::msl_bindings_3, {}, metal::msl_limit_3, metal::msl_entry_3},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
