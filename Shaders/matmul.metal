// matmul: out = x W^T + bias, or silu of its first half times the second.
//
// 16-bit, 8-bit and 4-bit weights meet activations rounded to 16 bits in 8x8 matrix products with float sums. An output
// is the sum of eight runs of columns, in order; within a run tiles.h says the order. That holds for any number of rows,
// so a row's bits do not depend on it. matmul_few takes up to 64 rows and gives each run to a simdgroup; matmul_tiles
// takes any number and goes through the runs one after the other.
//
// Activations: matmul_rows_* makes [rows, padded_cols] of them, and a scale for each row. For bfloat weights they are
// bfloats, scale 1. Otherwise they are halfs, divided by a power of two so that none overflows; and rotated as the
// weights are where those are quantised. Numbers of 8 and 4 bits are whole and at most 128: halfs hold them exactly.
//
// Weights: rows in order, zeros after the last column and row. 8 bits: a byte each. 4 bits: a nibble each, low ones
// first, and a pair (step, offset) for every 32 columns. Both with a float scale for each row.
#include "args/matmul.h"
#include "tiles.h"

constant constexpr uint kRuns = 8;  // part of the result's bits

// Grid: [rows]
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_rows_bf16(device const float* x [[buffer(0)]],
                               device bfloat* out [[buffer(1)]],
                               device float* scales [[buffer(2)]],
                               constant pagoda_args::MatmulRows& args [[buffer(3)]],
                               uint row [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]]) {
  for (uint i = tid; i < args.padded_cols; i += 128) {
    float value = 0.0f;
    if (i < args.cols) {
      value = x[long(row) * args.x_stride + i];
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
  if (tid == 0) {
    scales[row] = 1.0f;
  }
}

// The power of two that brings a sum of magnitudes below 2^15 goes to the activations, its inverse to the sums.
METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}

// A row's elements after rotation are no larger than the sum of magnitudes of the row. Grid: [rows]
template <bool ROTATED>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_rows(device const float* x [[buffer(0)]],
                             device half* out [[buffer(1)]],
                             device float* scales [[buffer(2)]],
                             constant pagoda_args::MatmulRows& args [[buffer(3)]],
                             uint row [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[ROTATED ? 4096 : 128];
  threadgroup float parts[4];
  device const float* from = x + long(row) * args.x_stride;
  device half* to = out + long(row) * args.padded_cols;
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += 128) {
    magnitudes += abs(from[i]);
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, 4);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);  // rotated twice: times block
  }
  const uint block = ROTATED ? args.block : 128;
  for (uint first = 0; first < args.padded_cols; first += block) {
    for (uint i = tid; i < block; i += 128) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = from[first + i] * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, 128);
    }
    for (uint i = tid; i < block && first + i < args.padded_cols; i += 128) {
      to[first + i] = half(tile[i]);  // the thread's own elements: the next block may overwrite them
    }
  }
}

template [[host_name("matmul_rows_f16")]] kernel decltype(matmul_rows<false>) matmul_rows<false>;
template [[host_name("matmul_rows_rotated")]] kernel decltype(matmul_rows<true>) matmul_rows<true>;

// A lane's share of a row of weights in one chunk, as it lies in memory: loads need not be waited for at once.
template <uint BITS>
struct Share;
template <>
struct Share<16> {
  uint4 a;
  uint4 b;
};
template <>
struct Share<8> {
  uint4 a;
};
template <>
struct Share<4> {
  uint2 a;
  uint steps;
};

// at: index of its first element in the matrix, a multiple of 16
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, ulong at, thread Share<16>& to) {
  to.a = *(device const uint4*)(w + at / 2);
  to.b = *(device const uint4*)(w + at / 2 + 4);
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, ulong at, thread Share<8>& to) {
  to.a = *(device const uint4*)(w + at / 4);
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, ulong at, thread Share<4>& to) {
  to.a = *(device const uint2*)(w + at / 8);
  to.steps = uint(steps[at / 32]);
}

METAL_FUNC void share_words(thread const Share<16>& share, thread uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}

// Byte i of a word of signed bytes: put behind 2^23 it is a float without a conversion.
METAL_FUNC float byte_of(uint flipped, uint i) {
  return as_type<float>((flipped >> (8 * i) & 0xffu) | 0x4b000000u) - 8388736.0f;
}

METAL_FUNC uint2 words_of_bytes(uint word) {
  const uint flipped = word ^ 0x80808080u;
  return uint2(pack_half(byte_of(flipped, 0), byte_of(flipped, 1)), pack_half(byte_of(flipped, 2), byte_of(flipped, 3)));
}

METAL_FUNC void share_words(thread const Share<8>& share, thread uint (&words)[kChunkTiles]) {
  const uint2 a = words_of_bytes(share.a.x);
  const uint2 b = words_of_bytes(share.a.y);
  const uint2 c = words_of_bytes(share.a.z);
  const uint2 d = words_of_bytes(share.a.w);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}

METAL_FUNC uint word_of_nibbles(uint word, uint i, uint steps) {
  const uint step = steps & 0xffu;
  const uint offset = steps >> 8;
  return pack_half(stepped_nibble(word, i, step, offset), stepped_nibble(word, i + 1, step, offset));
}

METAL_FUNC void share_words(thread const Share<4>& share, thread uint (&words)[kChunkTiles]) {
  #pragma unroll
  for (uint j = 0; j < 4; ++j) {
    words[j] = word_of_nibbles(share.a.x, 2 * j, share.steps);
    words[4 + j] = word_of_nibbles(share.a.y, 2 * j, share.steps);
  }
}

// A lane's share of a row of activations.
METAL_FUNC void load_x(device const half* x, thread uint (&words)[kChunkTiles]) {
  set_words(*(device const uint4*)(x), *(device const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(device const bfloat* x, thread uint (&words)[kChunkTiles]) {
  set_words(*(device const uint4*)(x), *(device const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(device const float* x, thread uint (&words)[kChunkTiles]) {
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(device const float4*)(x + 4 * i);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}

METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}

// Row r of the threadgroup's 8 RT rows of weights: neighbours, or with silu_mul a gate's in the first half and those of
// its other factor in the second.
METAL_FUNC uint weight_row(constant pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    return tile * (rows / 2) + r % (rows / 2) + r / (rows / 2) * args.out_cols;
  }
  return tile * rows + r;
}

// Writes output (m, column of row r) from the sums of that row and, with silu_mul, of its other factor.
METAL_FUNC void write_out(constant pagoda_args::Matmul& args, device const float* x_scales, device const float* w_scales,
                          device const float* bias, device float* out, uint m, uint column, float sum, float other,
                          bool is_prepared, bool is_scaled) {
  const float x_scale = is_prepared ? x_scales[m] : 1.0f;
  float value = finish(sum, x_scale, is_scaled ? w_scales[column] : 1.0f, args.has_bias != 0 ? bias[column] : 0.0f);
  if (args.silu_mul != 0) {
    const uint at = args.out_cols + column;
    value = silu(value) * finish(other, x_scale, is_scaled ? w_scales[at] : 1.0f, args.has_bias != 0 ? bias[at] : 0.0f);
  }
  out[long(m) * args.out_stride + column] = value;
}

// Up to 8 MT rows of x against 8 RT rows of weights. X: T, or float where activations need no preparation.
// Grid: [out_cols / (8 RT), twice as many with silu_mul]
template <typename T, typename X, uint BITS, uint RT, uint MT>
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_few(device const X* x [[buffer(0)]],
                       device const float* x_scales [[buffer(1)]],
                       device const uint* w [[buffer(2)]],
                       device const ushort* w_steps [[buffer(3)]],
                       device const float* w_scales [[buffer(4)]],
                       device const float* bias [[buffer(5)]],
                       device float* out [[buffer(6)]],
                       constant pagoda_args::Matmul& args [[buffer(7)]],
                       uint tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint WIDTH = 8 * MT;
  constexpr uint SUMS = kRuns * ROWS * WIDTH;
  constexpr uint SCRATCH = kRuns * kTileScratch;
  constexpr uint SHARED = SUMS > SCRATCH ? SUMS : SCRATCH;
  threadgroup float shared_words[SHARED];  // scratch of tiles first, then the sums of all runs
  threadgroup uint* scratch = (threadgroup uint*)(shared_words) + sg * kTileScratch;

  ulong w_at[RT];
  #pragma unroll
  for (uint i = 0; i < RT; ++i) {
    w_at[i] = ulong(weight_row(args, tg, 8 * i + lane / 4, ROWS)) * args.padded_cols + lane % 4 * 16;
  }
  ulong x_at[MT];
  #pragma unroll
  for (uint t = 0; t < MT; ++t) {
    x_at[t] = ulong(min(8 * t + lane / 4, args.rows - 1)) * ulong(args.x_stride) + lane % 4 * 16;
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
  for (uint k0 = sg * args.run; k0 < end; k0 += 2 * kChunk) {
    // Two chunks' loads in flight; the second may be past the end, and is then the first again, unused.
    Share<BITS> share[2][RT];
    const uint k1 = min(k0 + kChunk, end - kChunk);
    #pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, w_at[i] + k0, share[0][i]);
    }
    #pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, w_at[i] + k1, share[1][i]);
    }
    #pragma unroll
    for (uint u = 0; u < 2; ++u) {
      if (k0 + u * kChunk < end) {
        uint w_words[RT][kChunkTiles];
        uint x_words[MT][kChunkTiles];
        #pragma unroll
        for (uint t = 0; t < MT; ++t) {
          load_x(x + x_at[t] + k0 + u * kChunk, x_words[t]);
        }
        #pragma unroll
        for (uint i = 0; i < RT; ++i) {
          share_words(share[u][i], w_words[i]);
        }
        chunk_multiply<T, RT, MT>(acc, w_words, x_words, scratch, lane);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  #pragma unroll
  for (uint i = 0; i < RT; ++i) {
    #pragma unroll
    for (uint t = 0; t < MT; ++t) {
      simdgroup_store(acc[i][t], shared_words + (sg * ROWS + 8 * i) * WIDTH + 8 * t, WIDTH);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; i < made * WIDTH; i += 256) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg * made + r;
    if (m < args.rows && column < args.out_cols) {
      float sum = 0.0f;
      float other = 0.0f;
      #pragma unroll
      for (uint run = 0; run < kRuns; ++run) {
        sum += shared_words[(run * ROWS + r) * WIDTH + m];
        if (args.silu_mul != 0) {
          other += shared_words[(run * ROWS + made + r) * WIDTH + m];
        }
      }
      write_out(args, x_scales, w_scales, bias, out, m, column, sum, other, sizeof(X) == 2, BITS < 16);
    }
  }
}

// 64 rows of weights against 64 rows of x; a simdgroup has 32 of each. Grid: [rows / 64, out_cols / 64, or / 32]
template <typename T, uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_tiles(device const T* x [[buffer(0)]],
                         device const float* x_scales [[buffer(1)]],
                         device const uint* w [[buffer(2)]],
                         device const ushort* w_steps [[buffer(3)]],
                         device const float* w_scales [[buffer(4)]],
                         device const float* bias [[buffer(5)]],
                         device float* out [[buffer(6)]],
                         constant pagoda_args::Matmul& args [[buffer(7)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 64;
  constexpr uint LD = kChunk / 2 + 4;  // words of a row: rows start in different banks
  constexpr uint STAGE = 2 * ROWS * LD;
  constexpr uint SCRATCH = 4 * kTileScratch;
  constexpr uint SUMS = ROWS * ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  threadgroup uint shared_words[SHARED];  // both operands and scratch first, then the sums
  threadgroup uint* w_tile = shared_words;
  threadgroup uint* x_tile = shared_words + ROWS * LD;
  threadgroup uint* scratch = shared_words + STAGE + sg * kTileScratch;

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;
  // A thread stages 16 columns of two rows of each operand.
  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  ulong w_at[2];
  ulong x_at[2];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    const uint r = stage_row + 32 * i;
    w_at[i] = ulong(weight_row(args, tg.y, r, ROWS)) * args.padded_cols + tid % 4 * 16;
    x_at[i] = ulong(min(m0 + r, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[4][4];
  SumTile total[4][4];
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    #pragma unroll
    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[2];
  uint x_next[2][kChunkTiles];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
    #pragma unroll
    for (uint i = 0; i < 2; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      const uint at = (stage_row + 32 * i) * LD + stage_word;
      store_words(words, w_tile + at);
      store_words(x_next[i], x_tile + at);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint w_words[4][kChunkTiles];
    uint x_words[4][kChunkTiles];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      load_words((threadgroup const uint*)(w_tile + (sg_n + 8 * i + lane / 4) * LD + lane % 4 * 8), w_words[i]);
      load_words((threadgroup const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
    chunk_multiply<T, 4, 4>(acc, w_words, x_words, scratch, lane);
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;
      #pragma unroll
      for (uint i = 0; i < 4; ++i) {
        #pragma unroll
        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  threadgroup float* sums = (threadgroup float*)(shared_words);  // [x][weights]
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    #pragma unroll
    for (uint t = 0; t < 4; ++t) {
      simdgroup_store(total[i][t], sums + (sg_m + 8 * t) * ROWS + sg_n + 8 * i, ROWS, ulong2(0, 0), true);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; i < made * ROWS; i += 128) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg.y * made + r;
    if (m0 + m < args.rows && column < args.out_cols) {
      write_out(args, x_scales, w_scales, bias, out, m0 + m, column, sums[m * ROWS + r],
                args.silu_mul != 0 ? sums[m * ROWS + made + r] : 0.0f, true, BITS < 16);
    }
  }
}

#define FEW(NAME, T, X, BITS, RT, MT) \
  template [[host_name("matmul_few_" NAME "_" #RT "_" #MT)]] \
  kernel decltype(matmul_few<T, X, BITS, RT, MT>) matmul_few<T, X, BITS, RT, MT>;

#define INSTANTIATE(NAME, T, BITS) \
  FEW(NAME, T, T, BITS, 2, 1) \
  FEW(NAME, T, T, BITS, 2, 2) \
  FEW(NAME, T, T, BITS, 2, 4) \
  FEW(NAME, T, T, BITS, 2, 8) \
  template [[host_name("matmul_tiles_" NAME)]] kernel decltype(matmul_tiles<T, BITS>) matmul_tiles<T, BITS>;

INSTANTIATE("f16", half, 16)
INSTANTIATE("bf16", bfloat, 16)
INSTANTIATE("q8", half, 8)
INSTANTIATE("q4", half, 4)
FEW("direct", bfloat, float, 16, 2, 1)

// The product of a row of x and a row of weights, by one simdgroup: lanes take every 32nd column.
METAL_FUNC float lane_product(device const float* x, device const float* w, uint cols, uint lane) {
  float sum = 0.0f;
  for (uint k = lane; k < cols; k += 32) {
    sum = fma(x[k], w[k], sum);
  }
  return simd_sum(sum);
}

// f32 weights, nothing rounded: a simdgroup for each output column. Grid: [out_cols / 4, rows / 8]
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_f32(device const float* x [[buffer(0)]],
                         device const float* w [[buffer(1)]],
                         device const float* bias [[buffer(2)]],
                         device float* out [[buffer(3)]],
                         constant pagoda_args::Matmul& args [[buffer(4)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  const uint n = tg.x * 4 + sg;
  if (n >= args.out_cols) {
    return;
  }
  device const float* w_row = w + ulong(n) * args.padded_cols;
  const float w_bias = args.has_bias != 0 ? bias[n] : 0.0f;
  for (uint m = tg.y * 8; m < min(args.rows, tg.y * 8 + 8); ++m) {
    device const float* x_row = x + long(m) * args.x_stride;
    float value = finish(lane_product(x_row, w_row, args.cols, lane), 1.0f, 1.0f, w_bias);
    if (args.silu_mul != 0) {
      const uint other = n + args.out_cols;
      const float product = lane_product(x_row, w + ulong(other) * args.padded_cols, args.cols, lane);
      value = silu(value) * finish(product, 1.0f, 1.0f, args.has_bias != 0 ? bias[other] : 0.0f);
    }
    if (lane == 0) {
      out[long(m) * args.out_stride + n] = value;
    }
  }
}
