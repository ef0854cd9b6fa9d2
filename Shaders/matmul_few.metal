// matmul_few: the product of up to 64 rows with 16-bit, 8-bit and 4-bit weights, and those of
// stored formats; matmul.h describes layout and order.
#include "row_source.h"
#include "stored.h"

// Computes a lane's share of a row of activations. x and gate: at the row; scales: of the row.
METAL_FUNC void load_made(device const float* x, device const float* weight, device const float* gate,
                          constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column,
                          thread uint (&words)[kChunkTiles]) {
  const uint head = column / source.dim;  // the same for all 16
  const uint d = column % source.dim;
  device const float* at = x + long(head) * source.x_head_stride + d;
  device const float* gate_at = gate + long(head) * source.gate_head_stride + d;
  const float scale = source.kind == kSigmoidGate ? 1.0f : scales[head];  // a gate without a norm has none
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = row_elements(at + 4 * i, weight + d + 4 * i, gate_at + 4 * i, source, scale);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}

// Up to 8 MT rows of x against 8 RT rows of weights; the smaller RT, the more threadgroups there are. X: T, or float if
// activations need no preparation or, with MADE, are computed here.
// Grid: [out_cols / (8 RT), twice as many with silu_mul]
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
  // Chunks of weights and chunks of activations with loads in flight: as many as fit in registers.
  constexpr uint AHEAD = RT * MT == 1 ? 8 : RT == 4 ? 2 : 4 / RT;
  constexpr uint LOADED = RT * MT > 4 ? 1 : RT * MT > 1 ? AHEAD : BITS == 16 ? 2 : 4;
  constexpr uint WIDTH = 8 * MT;
  constexpr uint TILES = MT < 4 ? MT : 4;  // of x whose sums are added per pass, limited by threadgroup memory
  constexpr uint PASS = 8 * TILES;
  constexpr uint SUMS = kRuns * ROWS * PASS;
  constexpr uint SCRATCH = kRuns * kTileScratch;
  constexpr uint SHARED = SUMS > SCRATCH ? SUMS : SCRATCH;
  constexpr uint MADE_WORDS = MADE ? WIDTH * (kMostHeads + kRowSimdgroups) : 0;
  threadgroup float shared_words[SHARED + MADE_WORDS];  // first tile scratch, then the sums of all runs; then scales
  threadgroup float row_terms[2 * ROWS];  // scales and biases of the rows of weights, loaded before the inputs
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
  // Only saves work: rows that are already computed have no source, and so no scales.
  if (MADE) {
    row_scales((device const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  for (uint k0 = begin; k0 < end; k0 += AHEAD * kChunk) {
    uint x_ahead[LOADED][MT][kChunkTiles];
    #pragma unroll
    for (uint u = 0; u < AHEAD; ++u) {
      // Only saves work: rows that are computed here are loaded below.
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
    // Only saves work: weights past the end are not used.
    if (k0 + AHEAD * kChunk < end) {
      load_shares<BITS, AHEAD, RT>(w, w_steps, args.scales, w_at, k0 + AHEAD * kChunk, end, share);
    }
  }
  constexpr uint LOG_ROWS = RT == 1 ? 3 : RT == 2 ? 4 : 5;
  const uint log_made = args.silu_mul != 0 ? LOG_ROWS - 1 : LOG_ROWS;
  const uint made = 1u << log_made;  // columns of out
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

#pragma unroll 1  // this code runs once per launch: the less there is to fetch, the sooner it ends
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

template [[host_name("matmul_few_f16_1_1")]]
kernel decltype(matmul_few<half, half, 16, false, 1, 1>) matmul_few<half, half, 16, false, 1, 1>;
template [[host_name("matmul_few_f16_1_2")]]
kernel decltype(matmul_few<half, half, 16, false, 1, 2>) matmul_few<half, half, 16, false, 1, 2>;
template [[host_name("matmul_few_f16_1_4")]]
kernel decltype(matmul_few<half, half, 16, false, 1, 4>) matmul_few<half, half, 16, false, 1, 4>;
template [[host_name("matmul_few_f16_1_8")]]
kernel decltype(matmul_few<half, half, 16, false, 1, 8>) matmul_few<half, half, 16, false, 1, 8>;
template [[host_name("matmul_few_f16_2_1")]]
kernel decltype(matmul_few<half, half, 16, false, 2, 1>) matmul_few<half, half, 16, false, 2, 1>;
template [[host_name("matmul_few_f16_2_2")]]
kernel decltype(matmul_few<half, half, 16, false, 2, 2>) matmul_few<half, half, 16, false, 2, 2>;
template [[host_name("matmul_few_f16_2_4")]]
kernel decltype(matmul_few<half, half, 16, false, 2, 4>) matmul_few<half, half, 16, false, 2, 4>;
template [[host_name("matmul_few_f16_2_8")]]
kernel decltype(matmul_few<half, half, 16, false, 2, 8>) matmul_few<half, half, 16, false, 2, 8>;
template [[host_name("matmul_few_bf16_1_1")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 1, 1>) matmul_few<bfloat, bfloat, 16, false, 1, 1>;
template [[host_name("matmul_few_bf16_1_2")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 1, 2>) matmul_few<bfloat, bfloat, 16, false, 1, 2>;
template [[host_name("matmul_few_bf16_1_4")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 1, 4>) matmul_few<bfloat, bfloat, 16, false, 1, 4>;
template [[host_name("matmul_few_bf16_1_8")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 1, 8>) matmul_few<bfloat, bfloat, 16, false, 1, 8>;
template [[host_name("matmul_few_bf16_2_1")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 2, 1>) matmul_few<bfloat, bfloat, 16, false, 2, 1>;
template [[host_name("matmul_few_bf16_2_2")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 2, 2>) matmul_few<bfloat, bfloat, 16, false, 2, 2>;
template [[host_name("matmul_few_bf16_2_4")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 2, 4>) matmul_few<bfloat, bfloat, 16, false, 2, 4>;
template [[host_name("matmul_few_bf16_2_8")]]
kernel decltype(matmul_few<bfloat, bfloat, 16, false, 2, 8>) matmul_few<bfloat, bfloat, 16, false, 2, 8>;
template [[host_name("matmul_few_q8_1_1")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 1, 1>) matmul_few<bfloat, bfloat, 8, false, 1, 1>;
template [[host_name("matmul_few_q8_1_2")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 1, 2>) matmul_few<bfloat, bfloat, 8, false, 1, 2>;
template [[host_name("matmul_few_q8_1_4")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 1, 4>) matmul_few<bfloat, bfloat, 8, false, 1, 4>;
template [[host_name("matmul_few_q8_1_8")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 1, 8>) matmul_few<bfloat, bfloat, 8, false, 1, 8>;
template [[host_name("matmul_few_q8_2_1")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 2, 1>) matmul_few<bfloat, bfloat, 8, false, 2, 1>;
template [[host_name("matmul_few_q8_2_2")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 2, 2>) matmul_few<bfloat, bfloat, 8, false, 2, 2>;
template [[host_name("matmul_few_q8_2_4")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 2, 4>) matmul_few<bfloat, bfloat, 8, false, 2, 4>;
template [[host_name("matmul_few_q8_2_8")]]
kernel decltype(matmul_few<bfloat, bfloat, 8, false, 2, 8>) matmul_few<bfloat, bfloat, 8, false, 2, 8>;
template [[host_name("matmul_few_q4_1_1")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 1, 1>) matmul_few<bfloat, bfloat, 4, false, 1, 1>;
template [[host_name("matmul_few_q4_1_2")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 1, 2>) matmul_few<bfloat, bfloat, 4, false, 1, 2>;
template [[host_name("matmul_few_q4_1_4")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 1, 4>) matmul_few<bfloat, bfloat, 4, false, 1, 4>;
template [[host_name("matmul_few_q4_1_8")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 1, 8>) matmul_few<bfloat, bfloat, 4, false, 1, 8>;
template [[host_name("matmul_few_q4_2_1")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 2, 1>) matmul_few<bfloat, bfloat, 4, false, 2, 1>;
template [[host_name("matmul_few_q4_2_2")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 2, 2>) matmul_few<bfloat, bfloat, 4, false, 2, 2>;
template [[host_name("matmul_few_q4_2_4")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 2, 4>) matmul_few<bfloat, bfloat, 4, false, 2, 4>;
template [[host_name("matmul_few_q4_2_8")]]
kernel decltype(matmul_few<bfloat, bfloat, 4, false, 2, 8>) matmul_few<bfloat, bfloat, 4, false, 2, 8>;
template [[host_name("matmul_few_direct_bf16_1_1")]]
kernel decltype(matmul_few<bfloat, float, 16, false, 1, 1>) matmul_few<bfloat, float, 16, false, 1, 1>;
template [[host_name("matmul_few_direct_bf16_2_1")]]
kernel decltype(matmul_few<bfloat, float, 16, false, 2, 1>) matmul_few<bfloat, float, 16, false, 2, 1>;
template [[host_name("matmul_few_made_bf16_1_1")]]
kernel decltype(matmul_few<bfloat, float, 16, true, 1, 1>) matmul_few<bfloat, float, 16, true, 1, 1>;
template [[host_name("matmul_few_made_bf16_4_1")]]
kernel decltype(matmul_few<bfloat, float, 16, true, 4, 1>) matmul_few<bfloat, float, 16, true, 4, 1>;
template [[host_name("matmul_few_direct_q8_1_1")]]
kernel decltype(matmul_few<bfloat, float, 8, false, 1, 1>) matmul_few<bfloat, float, 8, false, 1, 1>;
template [[host_name("matmul_few_direct_q8_2_1")]]
kernel decltype(matmul_few<bfloat, float, 8, false, 2, 1>) matmul_few<bfloat, float, 8, false, 2, 1>;
template [[host_name("matmul_few_made_q8_1_1")]]
kernel decltype(matmul_few<bfloat, float, 8, true, 1, 1>) matmul_few<bfloat, float, 8, true, 1, 1>;
template [[host_name("matmul_few_made_q8_4_1")]]
kernel decltype(matmul_few<bfloat, float, 8, true, 4, 1>) matmul_few<bfloat, float, 8, true, 4, 1>;
template [[host_name("matmul_few_direct_q4_1_1")]]
kernel decltype(matmul_few<bfloat, float, 4, false, 1, 1>) matmul_few<bfloat, float, 4, false, 1, 1>;
template [[host_name("matmul_few_direct_q4_2_1")]]
kernel decltype(matmul_few<bfloat, float, 4, false, 2, 1>) matmul_few<bfloat, float, 4, false, 2, 1>;
template [[host_name("matmul_few_made_q4_1_1")]]
kernel decltype(matmul_few<bfloat, float, 4, true, 1, 1>) matmul_few<bfloat, float, 4, true, 1, 1>;
template [[host_name("matmul_few_made_q4_4_1")]]
kernel decltype(matmul_few<bfloat, float, 4, true, 4, 1>) matmul_few<bfloat, float, 4, true, 4, 1>;
template [[host_name("matmul_few_direct_s4_1_1")]]
kernel decltype(matmul_few<bfloat, float, kStored4, false, 1, 1>) matmul_few<bfloat, float, kStored4, false, 1, 1>;
template [[host_name("matmul_few_direct_s4_2_1")]]
kernel decltype(matmul_few<bfloat, float, kStored4, false, 2, 1>) matmul_few<bfloat, float, kStored4, false, 2, 1>;
template [[host_name("matmul_few_s4_2_1")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored4, false, 2, 1>) matmul_few<bfloat, bfloat, kStored4, false, 2, 1>;
template [[host_name("matmul_few_s4_2_2")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored4, false, 2, 2>) matmul_few<bfloat, bfloat, kStored4, false, 2, 2>;
template [[host_name("matmul_few_s4_2_4")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored4, false, 2, 4>) matmul_few<bfloat, bfloat, kStored4, false, 2, 4>;
template [[host_name("matmul_few_s4_2_8")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored4, false, 2, 8>) matmul_few<bfloat, bfloat, kStored4, false, 2, 8>;
template [[host_name("matmul_few_direct_s8_1_1")]]
kernel decltype(matmul_few<bfloat, float, kStored8, false, 1, 1>) matmul_few<bfloat, float, kStored8, false, 1, 1>;
template [[host_name("matmul_few_direct_s8_2_1")]]
kernel decltype(matmul_few<bfloat, float, kStored8, false, 2, 1>) matmul_few<bfloat, float, kStored8, false, 2, 1>;
template [[host_name("matmul_few_s8_2_1")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored8, false, 2, 1>) matmul_few<bfloat, bfloat, kStored8, false, 2, 1>;
template [[host_name("matmul_few_s8_2_2")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored8, false, 2, 2>) matmul_few<bfloat, bfloat, kStored8, false, 2, 2>;
template [[host_name("matmul_few_s8_2_4")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored8, false, 2, 4>) matmul_few<bfloat, bfloat, kStored8, false, 2, 4>;
template [[host_name("matmul_few_s8_2_8")]]
kernel decltype(matmul_few<bfloat, bfloat, kStored8, false, 2, 8>) matmul_few<bfloat, bfloat, kStored8, false, 2, 8>;
template [[host_name("matmul_few_direct_s8f_1_1")]]
kernel decltype(matmul_few<bfloat, float, kFine8, false, 1, 1>) matmul_few<bfloat, float, kFine8, false, 1, 1>;
template [[host_name("matmul_few_direct_s8f_2_1")]]
kernel decltype(matmul_few<bfloat, float, kFine8, false, 2, 1>) matmul_few<bfloat, float, kFine8, false, 2, 1>;
template [[host_name("matmul_few_s8f_2_1")]]
kernel decltype(matmul_few<bfloat, bfloat, kFine8, false, 2, 1>) matmul_few<bfloat, bfloat, kFine8, false, 2, 1>;
template [[host_name("matmul_few_s8f_2_2")]]
kernel decltype(matmul_few<bfloat, bfloat, kFine8, false, 2, 2>) matmul_few<bfloat, bfloat, kFine8, false, 2, 2>;
template [[host_name("matmul_few_s8f_2_4")]]
kernel decltype(matmul_few<bfloat, bfloat, kFine8, false, 2, 4>) matmul_few<bfloat, bfloat, kFine8, false, 2, 4>;
template [[host_name("matmul_few_s8f_2_8")]]
kernel decltype(matmul_few<bfloat, bfloat, kFine8, false, 2, 8>) matmul_few<bfloat, bfloat, kFine8, false, 2, 8>;
