// matmul_few.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/matmul_few.metal"
#include "device/gpu/generated/row_source.h"
#include "device/gpu/generated/stored.h"


METAL_FUNC void load_made(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                          MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column,
                          MSL_THREAD uint (&words)[kChunkTiles]) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  MSL_DEVICE const float* at = x + long(head) * source.x_head_stride + d;
  MSL_DEVICE const float* gate_at = gate + long(head) * source.gate_head_stride + d;
  const float scale = source.kind == kSigmoidGate ? 1.0f : scales[head];

  for (uint i = 0; i < 4; ++i) {
    const float4 v = row_elements(at + 4 * i, weight + d + 4 * i, gate_at + 4 * i, source, scale);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}
# 26 "Shaders/matmul_few.metal"
template <typename T, typename X, uint BITS, bool MADE, uint RT, uint MT>

MSL_KERNEL void matmul_few(MSL_DEVICE const X* x ,
                       MSL_DEVICE const float* x_scales ,
                       MSL_DEVICE const uint* w ,
                       MSL_DEVICE const ushort* w_steps ,
                       MSL_DEVICE const float* w_scales ,
                       MSL_DEVICE const float* bias ,
                       MSL_DEVICE const float* weight ,
                       MSL_DEVICE const float* gate ,
                       MSL_DEVICE float* out ,
                       MSL_CONSTANT pagoda_args::Matmul& args ,
                       uint tg ,
                       uint tid ,
                       uint sg ,
                       uint lane ) {
  constexpr uint ROWS = 8 * RT;

  constexpr uint AHEAD = RT * MT == 1 ? 8 : RT == 4 ? 2 : 4 / RT;
  constexpr uint LOADED = RT * MT > 4 ? 1 : RT * MT > 1 ? AHEAD : BITS == 16 ? 2 : 4;
  constexpr uint WIDTH = 8 * MT;
  constexpr uint TILES = MT < 4 ? MT : 4;
  constexpr uint PASS = 8 * TILES;
  constexpr uint SUMS = kRuns * ROWS * PASS;
  constexpr uint SCRATCH = kRuns * kTileScratch;
  constexpr uint SHARED = SUMS > SCRATCH ? SUMS : SCRATCH;
  constexpr uint MADE_WORDS = MADE ? WIDTH * (kMostHeads + kRowSimdgroups) : 0;
  MSL_TG_VAR(1, shared_words, [SHARED+MADE_WORDS], float)
  MSL_TG_VAR(2, row_terms, [2*ROWS], float)
  MSL_THREADGROUP float* scales = shared_words + SHARED;
  MSL_THREADGROUP float* parts = scales + WIDTH * kMostHeads;
  MSL_THREADGROUP uint* scratch = (MSL_THREADGROUP uint*)(shared_words) + sg * kTileScratch;

  ulong w_at[RT];

  for (uint i = 0; i < RT; ++i) {
    w_at[i] = ulong(weight_row(args, tg, 8 * i + lane / 4, ROWS)) * args.padded_cols + lane % 4 * 16;
  }
  ulong x_at[MT];

  for (uint t = 0; t < MT; ++t) {
    x_at[t] = ulong(min(8 * t + lane / 4, args.rows - 1)) * ulong(args.x_stride) + x_column<BITS>(lane);
  }
  SumTile acc[RT][MT];

  for (uint i = 0; i < RT; ++i) {

    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  const uint end = min((sg + 1) * args.run, args.padded_cols);
  const uint begin = sg * args.run;
  if (tid < ROWS) {
    const uint row = weight_row(args, tg, tid, ROWS);
    row_terms[tid] = BITS < 16 ? w_scales[row] : 1.0f;
    row_terms[ROWS + tid] = args.has_bias != 0 ? bias[row] : 0.0f;
  }
  Share<BITS> share[AHEAD][RT];
  load_shares<BITS, AHEAD, RT>(w, w_steps, args.scales, w_at, begin, end, share);
  wait_for_inputs();

  if (MADE) {
    row_scales((MSL_DEVICE const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  for (uint k0 = begin; MSL_LOOP(k0 < end); k0 += AHEAD * kChunk) {
    uint x_ahead[LOADED][MT][kChunkTiles];

    for (uint u = 0; u < AHEAD; ++u) {

      if (!MADE && u % LOADED == 0) {

        for (uint i = 0; i < LOADED; ++i) {
          const uint k = k0 + (u + i) * kChunk;

          for (uint t = 0; t < MT; ++t) {
            load_x<BITS>(x + x_at[t] + (k < end ? k : k0), x_ahead[i][t]);
          }
        }
      }
      if (k0 + u * kChunk < end) {
        uint x_words[MT][kChunkTiles];

        for (uint t = 0; t < MT; ++t) {
          if (MADE) {
            const uint m = min(8 * t + lane / 4, args.rows - 1);
            load_made((MSL_DEVICE const float*)(x) + long(m) * args.x_stride, weight,
                      gate + long(m) * args.source.gate_stride, args.source,
                      (MSL_THREADGROUP const float*)(scales + m * args.source.heads), k0 + u * kChunk + lane % 4 * 16,
                      x_words[t]);
          } else {

            for (uint j = 0; j < kChunkTiles; ++j) {
              x_words[t][j] = x_ahead[u % LOADED][t][j];
            }
          }
        }
        multiply_shares<T, BITS, RT, MT>(Stored<(BITS > 100)>(), acc, share[u], x_words, args.scales, scratch, lane);
      }
    }

    if (k0 + AHEAD * kChunk < end) {
      load_shares<BITS, AHEAD, RT>(w, w_steps, args.scales, w_at, k0 + AHEAD * kChunk, end, share);
    }
  }
  constexpr uint LOG_ROWS = RT == 1 ? 3 : RT == 2 ? 4 : 5;
  const uint log_made = args.silu_mul != 0 ? LOG_ROWS - 1 : LOG_ROWS;
  const uint made = 1u << log_made;

  for (uint first = 0; first < MT; first += TILES) {
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint i = 0; i < RT; ++i) {

      for (uint t = 0; t < TILES; ++t) {
        simdgroup_store(acc[i][first + t], shared_words + (sg * ROWS + 8 * i) * PASS + 8 * t, PASS);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    for (uint i = tid; i < made * PASS; i += 256) {
      const uint r = i & (made - 1);
      const uint row = i >> log_made;
      const uint m = 8 * first + row;
      const uint column = tg * made + r;
      if (m < args.rows && column < args.out_cols) {
        const uint other_r = ROWS - made + r;
        ColumnTerms terms;
        terms.scale = row_terms[r];
        terms.bias = row_terms[ROWS + r];
        terms.other_scale = row_terms[other_r];
        terms.other_bias = row_terms[ROWS + other_r];
        float sum = 0.0f;
        float other = 0.0f;

        for (uint run = 0; run < kRuns; ++run) {
          sum += shared_words[(run * ROWS + r) * PASS + row];
          if (args.silu_mul != 0) {
            other += shared_words[(run * ROWS + made + r) * PASS + row];
          }
        }
        write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sum, other);
      }
    }
  }
}
# 1 "matmul_few.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 1, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 1, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 1, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 1, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 2, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 2, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 2, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<half, half, 16, false, 2, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_8(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 1, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_9(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 1, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_10(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 1, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_11(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 1, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_12(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_13(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_14(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_15(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 16, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_16(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 1, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_17(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 1, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_18(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 1, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_19(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 1, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_20(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_21(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_22(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_23(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 8, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_24(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 1, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_25(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 1, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_26(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 1, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_27(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 1, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_28(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_29(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_30(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_31(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, 4, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_32(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 16, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_33(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 16, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_34(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 16, true, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_35(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 16, true, 4, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_36(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 8, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_37(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 8, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_38(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 8, true, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_39(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 8, true, 4, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_40(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 4, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_41(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 4, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_42(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 4, true, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_43(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, 4, true, 4, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_44(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, kStored4, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_45(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, kStored4, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_46(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored4, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_47(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored4, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_48(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored4, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_49(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored4, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_50(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, kStored8, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_51(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, kStored8, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_52(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored8, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_53(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored8, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_54(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored8, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_55(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kStored8, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_56(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, kFine8, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_57(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, float, kFine8, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_58(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kFine8, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_59(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kFine8, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_60(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kFine8, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_61(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_few<bfloat, bfloat, kFine8, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_few_f16_1_1", "matmul_few", msl_bindings_0, {}, 256, msl_entry_0},
  {"matmul_few_f16_1_2", "matmul_few", msl_bindings_0, {}, 256, msl_entry_1},
  {"matmul_few_f16_1_4", "matmul_few", msl_bindings_0, {}, 256, msl_entry_2},
  {"matmul_few_f16_1_8", "matmul_few", msl_bindings_0, {}, 256, msl_entry_3},
  {"matmul_few_f16_2_1", "matmul_few", msl_bindings_0, {}, 256, msl_entry_4},
  {"matmul_few_f16_2_2", "matmul_few", msl_bindings_0, {}, 256, msl_entry_5},
  {"matmul_few_f16_2_4", "matmul_few", msl_bindings_0, {}, 256, msl_entry_6},
  {"matmul_few_f16_2_8", "matmul_few", msl_bindings_0, {}, 256, msl_entry_7},
  {"matmul_few_bf16_1_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_8},
  {"matmul_few_bf16_1_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_9},
  {"matmul_few_bf16_1_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_10},
  {"matmul_few_bf16_1_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_11},
  {"matmul_few_bf16_2_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_12},
  {"matmul_few_bf16_2_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_13},
  {"matmul_few_bf16_2_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_14},
  {"matmul_few_bf16_2_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_15},
  {"matmul_few_q8_1_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_16},
  {"matmul_few_q8_1_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_17},
  {"matmul_few_q8_1_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_18},
  {"matmul_few_q8_1_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_19},
  {"matmul_few_q8_2_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_20},
  {"matmul_few_q8_2_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_21},
  {"matmul_few_q8_2_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_22},
  {"matmul_few_q8_2_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_23},
  {"matmul_few_q4_1_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_24},
  {"matmul_few_q4_1_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_25},
  {"matmul_few_q4_1_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_26},
  {"matmul_few_q4_1_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_27},
  {"matmul_few_q4_2_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_28},
  {"matmul_few_q4_2_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_29},
  {"matmul_few_q4_2_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_30},
  {"matmul_few_q4_2_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_31},
  {"matmul_few_direct_bf16_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_32},
  {"matmul_few_direct_bf16_2_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_33},
  {"matmul_few_made_bf16_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_34},
  {"matmul_few_made_bf16_4_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_35},
  {"matmul_few_direct_q8_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_36},
  {"matmul_few_direct_q8_2_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_37},
  {"matmul_few_made_q8_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_38},
  {"matmul_few_made_q8_4_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_39},
  {"matmul_few_direct_q4_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_40},
  {"matmul_few_direct_q4_2_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_41},
  {"matmul_few_made_q4_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_42},
  {"matmul_few_made_q4_4_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_43},
  {"matmul_few_direct_s4_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_44},
  {"matmul_few_direct_s4_2_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_45},
  {"matmul_few_s4_2_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_46},
  {"matmul_few_s4_2_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_47},
  {"matmul_few_s4_2_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_48},
  {"matmul_few_s4_2_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_49},
  {"matmul_few_direct_s8_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_50},
  {"matmul_few_direct_s8_2_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_51},
  {"matmul_few_s8_2_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_52},
  {"matmul_few_s8_2_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_53},
  {"matmul_few_s8_2_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_54},
  {"matmul_few_s8_2_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_55},
  {"matmul_few_direct_s8f_1_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_56},
  {"matmul_few_direct_s8f_2_1", "matmul_few", msl_bindings_2, {}, 256, msl_entry_57},
  {"matmul_few_s8f_2_1", "matmul_few", msl_bindings_1, {}, 256, msl_entry_58},
  {"matmul_few_s8f_2_2", "matmul_few", msl_bindings_1, {}, 256, msl_entry_59},
  {"matmul_few_s8f_2_4", "matmul_few", msl_bindings_1, {}, 256, msl_entry_60},
  {"matmul_few_s8f_2_8", "matmul_few", msl_bindings_1, {}, 256, msl_entry_61},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_few_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
