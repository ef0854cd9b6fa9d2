// The text of matmul_few.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_few_source() noexcept {
  return {"matmul_few",
R"msl(#include "row_source.h"
#include "stored.h"
METAL_FUNC void load_made(device const float* x, device const float* weight, device const float* gate,
                          constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column,
                          thread uint (&words)[kChunkTiles]) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  device const float* at = x + long(head) * source.x_head_stride + d;
  device const float* gate_at = gate + long(head) * source.gate_head_stride + d;
  const float scale = source.kind == kSigmoidGate ? 1.0f : scales[head];
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = row_elements(at + 4 * i, weight + d + 4 * i, gate_at + 4 * i, source, scale);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}
template <typename T, typename X, uint BITS, bool MADE, uint RT, uint MT>
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_few(device const X* x [[buffer(0)]],
                       device const float* x_scales [[buffer(1)]],
                       device const uint* w [[buffer(2)]],
                       device const ushort* w_steps [[buffer(3)]],
                       device const float* w_scales [[buffer(4)]],
                       device const float* bias [[buffer(5)]],
                       device const float* weight [[buffer(6)]],
                       device const float* gate [[buffer(7)]],
                       device float* out [[buffer(8)]],
                       constant pagoda_args::Matmul& args [[buffer(9)]],
                       uint tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
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
  MSL_SHARED float shared_words[SHARED + MADE_WORDS];
  MSL_SHARED float row_terms[2 * ROWS];
  threadgroup float* scales = shared_words + SHARED;
  threadgroup float* parts = scales + WIDTH * kMostHeads;
  threadgroup uint* scratch = (threadgroup uint*)(shared_words) + sg * kTileScratch;
  ulong w_at[RT];
  #pragma unroll
  for (uint i = 0; i < RT; ++i) {
    w_at[i] = ulong(weight_row(args, tg, 8 * i + lane / 4, ROWS)) * args.padded_cols + lane % 4 * 16;
  }
  ulong x_at[MT];
  #pragma unroll
  for (uint t = 0; t < MT; ++t) {
    x_at[t] = ulong(min(8 * t + lane / 4, args.rows - 1)) * ulong(args.x_stride) + x_column<BITS>(lane);
  }
  SumTile acc[RT][MT];
  #pragma unroll
  for (uint i = 0; i < RT; ++i) {
    #pragma unroll
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
    row_scales((device const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  for (uint k0 = begin; k0 < end; k0 += AHEAD * kChunk) {
    uint x_ahead[LOADED][MT][kChunkTiles];
    #pragma unroll
    for (uint u = 0; u < AHEAD; ++u) {
      if (!MADE && u % LOADED == 0) {
        #pragma unroll
        for (uint i = 0; i < LOADED; ++i) {
          const uint k = k0 + (u + i) * kChunk;
          #pragma unroll
          for (uint t = 0; t < MT; ++t) {
            load_x<BITS>(x + x_at[t] + (k < end ? k : k0), x_ahead[i][t]);
          }
        }
      }
      if (k0 + u * kChunk < end) {
        uint x_words[MT][kChunkTiles];
        #pragma unroll
        for (uint t = 0; t < MT; ++t) {
          if (MADE) {
            const uint m = min(8 * t + lane / 4, args.rows - 1);
            load_made((device const float*)(x) + long(m) * args.x_stride, weight,
                      gate + long(m) * args.source.gate_stride, args.source,
                      (threadgroup const float*)(scales + m * args.source.heads), k0 + u * kChunk + lane % 4 * 16,
                      x_words[t]);
          } else {
            #pragma unroll
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
  #pragma unroll
  for (uint first = 0; first < MT; first += TILES) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint i = 0; i < RT; ++i) {
      #pragma unroll
      for (uint t = 0; t < TILES; ++t) {
        simdgroup_store(acc[i][first + t], shared_words + (sg * ROWS + 8 * i) * PASS + 8 * t, PASS);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll 1
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
        #pragma unroll
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
MSL_INSTANCE(matmul_few_f16_1_1, matmul_few, half, half, 16, false, 1, 1)
MSL_INSTANCE(matmul_few_f16_1_2, matmul_few, half, half, 16, false, 1, 2)
MSL_INSTANCE(matmul_few_f16_1_4, matmul_few, half, half, 16, false, 1, 4)
MSL_INSTANCE(matmul_few_f16_1_8, matmul_few, half, half, 16, false, 1, 8)
MSL_INSTANCE(matmul_few_f16_2_1, matmul_few, half, half, 16, false, 2, 1)
MSL_INSTANCE(matmul_few_f16_2_2, matmul_few, half, half, 16, false, 2, 2)
MSL_INSTANCE(matmul_few_f16_2_4, matmul_few, half, half, 16, false, 2, 4)
MSL_INSTANCE(matmul_few_f16_2_8, matmul_few, half, half, 16, false, 2, 8)
MSL_INSTANCE(matmul_few_bf16_1_1, matmul_few, bfloat, bfloat, 16, false, 1, 1)
MSL_INSTANCE(matmul_few_bf16_1_2, matmul_few, bfloat, bfloat, 16, false, 1, 2)
MSL_INSTANCE(matmul_few_bf16_1_4, matmul_few, bfloat, bfloat, 16, false, 1, 4)
MSL_INSTANCE(matmul_few_bf16_1_8, matmul_few, bfloat, bfloat, 16, false, 1, 8)
MSL_INSTANCE(matmul_few_bf16_2_1, matmul_few, bfloat, bfloat, 16, false, 2, 1)
MSL_INSTANCE(matmul_few_bf16_2_2, matmul_few, bfloat, bfloat, 16, false, 2, 2)
MSL_INSTANCE(matmul_few_bf16_2_4, matmul_few, bfloat, bfloat, 16, false, 2, 4)
MSL_INSTANCE(matmul_few_bf16_2_8, matmul_few, bfloat, bfloat, 16, false, 2, 8)
MSL_INSTANCE(matmul_few_q8_1_1, matmul_few, bfloat, bfloat, 8, false, 1, 1)
MSL_INSTANCE(matmul_few_q8_1_2, matmul_few, bfloat, bfloat, 8, false, 1, 2)
MSL_INSTANCE(matmul_few_q8_1_4, matmul_few, bfloat, bfloat, 8, false, 1, 4)
MSL_INSTANCE(matmul_few_q8_1_8, matmul_few, bfloat, bfloat, 8, false, 1, 8)
MSL_INSTANCE(matmul_few_q8_2_1, matmul_few, bfloat, bfloat, 8, false, 2, 1)
MSL_INSTANCE(matmul_few_q8_2_2, matmul_few, bfloat, bfloat, 8, false, 2, 2)
MSL_INSTANCE(matmul_few_q8_2_4, matmul_few, bfloat, bfloat, 8, false, 2, 4)
MSL_INSTANCE(matmul_few_q8_2_8, matmul_few, bfloat, bfloat, 8, false, 2, 8)
MSL_INSTANCE(matmul_few_q4_1_1, matmul_few, bfloat, bfloat, 4, false, 1, 1)
MSL_INSTANCE(matmul_few_q4_1_2, matmul_few, bfloat, bfloat, 4, false, 1, 2)
MSL_INSTANCE(matmul_few_q4_1_4, matmul_few, bfloat, bfloat, 4, false, 1, 4)
MSL_INSTANCE(matmul_few_q4_1_8, matmul_few, bfloat, bfloat, 4, false, 1, 8)
MSL_INSTANCE(matmul_few_q4_2_1, matmul_few, bfloat, bfloat, 4, false, 2, 1)
MSL_INSTANCE(matmul_few_q4_2_2, matmul_few, bfloat, bfloat, 4, false, 2, 2)
MSL_INSTANCE(matmul_few_q4_2_4, matmul_few, bfloat, bfloat, 4, false, 2, 4)
MSL_INSTANCE(matmul_few_q4_2_8, matmul_few, bfloat, bfloat, 4, false, 2, 8)
MSL_INSTANCE(matmul_few_direct_bf16_1_1, matmul_few, bfloat, float, 16, false, 1, 1)
MSL_INSTANCE(matmul_few_direct_bf16_2_1, matmul_few, bfloat, float, 16, false, 2, 1)
MSL_INSTANCE(matmul_few_made_bf16_1_1, matmul_few, bfloat, float, 16, true, 1, 1)
MSL_INSTANCE(matmul_few_made_bf16_4_1, matmul_few, bfloat, float, 16, true, 4, 1)
MSL_INSTANCE(matmul_few_direct_q8_1_1, matmul_few, bfloat, float, 8, false, 1, 1)
MSL_INSTANCE(matmul_few_direct_q8_2_1, matmul_few, bfloat, float, 8, false, 2, 1)
MSL_INSTANCE(matmul_few_made_q8_1_1, matmul_few, bfloat, float, 8, true, 1, 1)
MSL_INSTANCE(matmul_few_made_q8_4_1, matmul_few, bfloat, float, 8, true, 4, 1)
MSL_INSTANCE(matmul_few_direct_q4_1_1, matmul_few, bfloat, float, 4, false, 1, 1)
MSL_INSTANCE(matmul_few_direct_q4_2_1, matmul_few, bfloat, float, 4, false, 2, 1)
MSL_INSTANCE(matmul_few_made_q4_1_1, matmul_few, bfloat, float, 4, true, 1, 1)
MSL_INSTANCE(matmul_few_made_q4_4_1, matmul_few, bfloat, float, 4, true, 4, 1)
MSL_INSTANCE(matmul_few_direct_s4_1_1, matmul_few, bfloat, float, kStored4, false, 1, 1)
MSL_INSTANCE(matmul_few_direct_s4_2_1, matmul_few, bfloat, float, kStored4, false, 2, 1)
MSL_INSTANCE(matmul_few_s4_2_1, matmul_few, bfloat, bfloat, kStored4, false, 2, 1)
MSL_INSTANCE(matmul_few_s4_2_2, matmul_few, bfloat, bfloat, kStored4, false, 2, 2)
MSL_INSTANCE(matmul_few_s4_2_4, matmul_few, bfloat, bfloat, kStored4, false, 2, 4)
MSL_INSTANCE(matmul_few_s4_2_8, matmul_few, bfloat, bfloat, kStored4, false, 2, 8)
MSL_INSTANCE(matmul_few_direct_s8_1_1, matmul_few, bfloat, float, kStored8, false, 1, 1)
MSL_INSTANCE(matmul_few_direct_s8_2_1, matmul_few, bfloat, float, kStored8, false, 2, 1)
MSL_INSTANCE(matmul_few_s8_2_1, matmul_few, bfloat, bfloat, kStored8, false, 2, 1)
MSL_INSTANCE(matmul_few_s8_2_2, matmul_few, bfloat, bfloat, kStored8, false, 2, 2)
MSL_INSTANCE(matmul_few_s8_2_4, matmul_few, bfloat, bfloat, kStored8, false, 2, 4)
MSL_INSTANCE(matmul_few_s8_2_8, matmul_few, bfloat, bfloat, kStored8, false, 2, 8)
MSL_INSTANCE(matmul_few_direct_s8f_1_1, matmul_few, bfloat, float, kFine8, false, 1, 1)
MSL_INSTANCE(matmul_few_direct_s8f_2_1, matmul_few, bfloat, float, kFine8, false, 2, 1)
MSL_INSTANCE(matmul_few_s8f_2_1, matmul_few, bfloat, bfloat, kFine8, false, 2, 1)
MSL_INSTANCE(matmul_few_s8f_2_2, matmul_few, bfloat, bfloat, kFine8, false, 2, 2)
MSL_INSTANCE(matmul_few_s8f_2_4, matmul_few, bfloat, bfloat, kFine8, false, 2, 4)
MSL_INSTANCE(matmul_few_s8f_2_8, matmul_few, bfloat, bfloat, kFine8, false, 2, 8)
)msl",
R"msl(#define MSL_KERNEL_matmul_few(BOUNDS, T, X, BITS, MADE, RT, MT) MSL_GLOBAL(BOUNDS)(const X* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) { msl_let_dependents_begin(); matmul_few<T, X, BITS, MADE, RT, MT>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_matmul_few_f16_1_1 MSL_KERNEL_matmul_few((256, 2), half, half, 16, false, 1, 1)
#define MSL_ENTRY_matmul_few_f16_1_2 MSL_KERNEL_matmul_few((256), half, half, 16, false, 1, 2)
#define MSL_ENTRY_matmul_few_f16_1_4 MSL_KERNEL_matmul_few((256), half, half, 16, false, 1, 4)
#define MSL_ENTRY_matmul_few_f16_1_8 MSL_KERNEL_matmul_few((256), half, half, 16, false, 1, 8)
#define MSL_ENTRY_matmul_few_f16_2_1 MSL_KERNEL_matmul_few((256), half, half, 16, false, 2, 1)
#define MSL_ENTRY_matmul_few_f16_2_2 MSL_KERNEL_matmul_few((256), half, half, 16, false, 2, 2)
#define MSL_ENTRY_matmul_few_f16_2_4 MSL_KERNEL_matmul_few((256), half, half, 16, false, 2, 4)
#define MSL_ENTRY_matmul_few_f16_2_8 MSL_KERNEL_matmul_few((256), half, half, 16, false, 2, 8)
#define MSL_ENTRY_matmul_few_bf16_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, bfloat, 16, false, 1, 1)
#define MSL_ENTRY_matmul_few_bf16_1_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 1, 2)
#define MSL_ENTRY_matmul_few_bf16_1_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 1, 4)
#define MSL_ENTRY_matmul_few_bf16_1_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 1, 8)
#define MSL_ENTRY_matmul_few_bf16_2_1 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 2, 1)
#define MSL_ENTRY_matmul_few_bf16_2_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 2, 2)
#define MSL_ENTRY_matmul_few_bf16_2_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 2, 4)
#define MSL_ENTRY_matmul_few_bf16_2_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 16, false, 2, 8)
#define MSL_ENTRY_matmul_few_q8_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, bfloat, 8, false, 1, 1)
#define MSL_ENTRY_matmul_few_q8_1_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 1, 2)
#define MSL_ENTRY_matmul_few_q8_1_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 1, 4)
#define MSL_ENTRY_matmul_few_q8_1_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 1, 8)
#define MSL_ENTRY_matmul_few_q8_2_1 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 2, 1)
#define MSL_ENTRY_matmul_few_q8_2_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 2, 2)
#define MSL_ENTRY_matmul_few_q8_2_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 2, 4)
#define MSL_ENTRY_matmul_few_q8_2_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 8, false, 2, 8)
#define MSL_ENTRY_matmul_few_q4_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, bfloat, 4, false, 1, 1)
#define MSL_ENTRY_matmul_few_q4_1_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 1, 2)
#define MSL_ENTRY_matmul_few_q4_1_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 1, 4)
#define MSL_ENTRY_matmul_few_q4_1_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 1, 8)
#define MSL_ENTRY_matmul_few_q4_2_1 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 2, 1)
#define MSL_ENTRY_matmul_few_q4_2_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 2, 2)
#define MSL_ENTRY_matmul_few_q4_2_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 2, 4)
#define MSL_ENTRY_matmul_few_q4_2_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, 4, false, 2, 8)
#define MSL_ENTRY_matmul_few_direct_bf16_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, 16, false, 1, 1)
#define MSL_ENTRY_matmul_few_direct_bf16_2_1 MSL_KERNEL_matmul_few((256), bfloat, float, 16, false, 2, 1)
#define MSL_ENTRY_matmul_few_made_bf16_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, 16, true, 1, 1)
#define MSL_ENTRY_matmul_few_made_bf16_4_1 MSL_KERNEL_matmul_few((256), bfloat, float, 16, true, 4, 1)
#define MSL_ENTRY_matmul_few_direct_q8_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, 8, false, 1, 1)
#define MSL_ENTRY_matmul_few_direct_q8_2_1 MSL_KERNEL_matmul_few((256), bfloat, float, 8, false, 2, 1)
#define MSL_ENTRY_matmul_few_made_q8_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, 8, true, 1, 1)
#define MSL_ENTRY_matmul_few_made_q8_4_1 MSL_KERNEL_matmul_few((256), bfloat, float, 8, true, 4, 1)
#define MSL_ENTRY_matmul_few_direct_q4_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, 4, false, 1, 1)
#define MSL_ENTRY_matmul_few_direct_q4_2_1 MSL_KERNEL_matmul_few((256), bfloat, float, 4, false, 2, 1)
#define MSL_ENTRY_matmul_few_made_q4_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, 4, true, 1, 1)
#define MSL_ENTRY_matmul_few_made_q4_4_1 MSL_KERNEL_matmul_few((256), bfloat, float, 4, true, 4, 1)
#define MSL_ENTRY_matmul_few_direct_s4_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, kStored4, false, 1, 1)
#define MSL_ENTRY_matmul_few_direct_s4_2_1 MSL_KERNEL_matmul_few((256), bfloat, float, kStored4, false, 2, 1)
#define MSL_ENTRY_matmul_few_s4_2_1 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored4, false, 2, 1)
#define MSL_ENTRY_matmul_few_s4_2_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored4, false, 2, 2)
#define MSL_ENTRY_matmul_few_s4_2_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored4, false, 2, 4)
#define MSL_ENTRY_matmul_few_s4_2_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored4, false, 2, 8)
#define MSL_ENTRY_matmul_few_direct_s8_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, kStored8, false, 1, 1)
#define MSL_ENTRY_matmul_few_direct_s8_2_1 MSL_KERNEL_matmul_few((256), bfloat, float, kStored8, false, 2, 1)
#define MSL_ENTRY_matmul_few_s8_2_1 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored8, false, 2, 1)
#define MSL_ENTRY_matmul_few_s8_2_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored8, false, 2, 2)
#define MSL_ENTRY_matmul_few_s8_2_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored8, false, 2, 4)
#define MSL_ENTRY_matmul_few_s8_2_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kStored8, false, 2, 8)
#define MSL_ENTRY_matmul_few_direct_s8f_1_1 MSL_KERNEL_matmul_few((256, 2), bfloat, float, kFine8, false, 1, 1)
#define MSL_ENTRY_matmul_few_direct_s8f_2_1 MSL_KERNEL_matmul_few((256), bfloat, float, kFine8, false, 2, 1)
#define MSL_ENTRY_matmul_few_s8f_2_1 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kFine8, false, 2, 1)
#define MSL_ENTRY_matmul_few_s8f_2_2 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kFine8, false, 2, 2)
#define MSL_ENTRY_matmul_few_s8f_2_4 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kFine8, false, 2, 4)
#define MSL_ENTRY_matmul_few_s8f_2_8 MSL_KERNEL_matmul_few((256), bfloat, bfloat, kFine8, false, 2, 8)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
