// The text of matmul_few.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_few_source() noexcept {
  return {"matmul_few",
R"msl(#pragma METAL fp contract(off)
// matmul_few: the product of up to 64 rows with 16-bit, 8-bit and 4-bit weights; matmul.h has the layout and the order.
// matmul: out = x W^T + bias, or silu of its first half times the second.
//
// 16-bit, 8-bit and 4-bit weights meet activations rounded to 16 bits in 8x8 matrix products with float sums. An output
// is the sum of eight runs of columns, in order; within a run tiles.h says the order. That holds for any number of
// rows, so a row's bits do not depend on it. matmul_few takes up to 64 rows and gives each run to a simdgroup;
// matmul_tiles takes any number and goes through the runs one after the other.
//
// Activations: matmul_rows_* makes [rows, padded_cols] of them, and a scale for each row. For bfloat weights they are
// bfloats, scale 1. Otherwise they are halfs, divided by a power of two so that none overflows; and rotated as the
// weights are where those are quantised. Numbers of 8 and 4 bits are whole and at most 128: halfs hold them exactly.
//
// matmul_few_made_* and matmul_rows_* make the activations themselves where they are a norm's or a gate's
// (row_source.h).
//
// Weights: rows in order, zeros after the last column and row. 8 bits: a byte each. 4 bits: a nibble each, low ones
// first, and a pair (step, offset) for every 32 columns. Both with a float scale for each row.

// Arguments of matmul_*.metal, shared by the kernels and the host.

// RowSource: how a matmul gets its rows of activations, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

// A row has `heads` heads of `dim` elements. kind 0: as they lie, the strides of heads are not used; 1: RMS norm of the
// row, one head; 2: RMS norm of each head times silu(gate); 3: times sigmoid(gate).
struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;  // elements
  uint kind;
  uint heads;  // at most 64
  uint dim;    // a multiple of 16
  float eps;
  float weight_offset;  // of kind 1
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}  // namespace pagoda_args

namespace pagoda_args {

struct MatmulRows {
  long x_stride;  // elements from one row to the next
  uint cols;
  uint padded_cols;
  uint block;  // columns that are rotated together (quantised weights)
  uint reserved;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");

struct Matmul {
  long x_stride;    // elements from one row of x to the next
  long out_stride;  // elements from one row to the next
  uint rows;        // M
  uint cols;        // K
  uint out_cols;    // N, or N / 2 with silu_mul
  uint padded_cols;
  uint run;  // columns that are summed together: an eighth of padded_cols, rounded up to 64
  uint has_bias;
  uint silu_mul;
  uint adds;         // to what `out` has
  RowSource source;  // of matmul_few_made_*
};
static_assert(sizeof(Matmul) == 96, "host and kernel agree");

}  // namespace pagoda_args
// Matrix products of 16-bit operands with float sums, 64 columns (a chunk) at a time.
//
// A lane has a row (lane / 4) of an 8-row operand and 16 neighbouring columns of it (from 16 (lane % 4) on), as eight
// words of two: one or two wide loads. Word j of all lanes is the chunk's tile j, an 8x8 matrix; so tile j holds the
// columns 16 c + 2 j and 16 c + 2 j + 1 of all c < 4. Both operands are cut alike, and a sum takes the tiles in order.

// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite substitute for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

// Elements first, first + stride, ..., all in flight at once; 0 from `end` on.
template <uint N>
METAL_FUNC void load_ahead(device const float* from, uint first, uint stride, uint end, thread float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}

// The sum of v over all threads of the threadgroup, in one order: lanes by butterfly, then simdgroups by index.
// `partial` has an element for each simdgroup; it may be used again after the caller's next barrier.
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}

// The sequence whose rows hold `row`.
METAL_FUNC uint sequence_of_row(device const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// Multiplies tile[0 .. block) with the Hadamard matrix, in place: additions in the order of strides 1, 2, 4, ...
// All threads of the threadgroup call it; the tile is complete and visible to all when it returns.
METAL_FUNC void rotate(threadgroup float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// The number that eight or four bits of a quantised row stand for, before the row's scale.
METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}

// acc[i][j] += a[i] * b[j] over 8x8 tiles.
template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(thread simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         thread simdgroup_matrix<T, 8, 8> (&a)[R],
                                         thread simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's smallest tile is 16x8: two of ours side by side.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
#endif
  }
}

constant constexpr uint kChunk = 64;
constant constexpr uint kChunkTiles = 8;
constant constexpr uint kTileScratch = 2 * kChunkTiles * 32;  // words that chunk_multiply wants for each simdgroup

typedef simdgroup_matrix<float, 8, 8> SumTile;

// Two numbers in one word, the first in the low half.
METAL_FUNC uint pack_half(float first, float second) {
#ifdef __MSL_PAIRED_MMA__
  return msl_pack_half(first, second);
#else
  return uint(as_type<ushort>(half(first))) | uint(as_type<ushort>(half(second))) << 16;
#endif
}

METAL_FUNC uint pack_bfloat(float first, float second) {
#ifdef __MSL_PAIRED_MMA__
  return msl_pack_bfloat(first, second);
#else
  return uint(as_type<ushort>(bfloat(first))) | uint(as_type<ushort>(bfloat(second))) << 16;
#endif
}

METAL_FUNC void set_words(uint4 a, uint4 b, thread uint (&words)[kChunkTiles]) {
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
  words[4] = b.x;
  words[5] = b.y;
  words[6] = b.z;
  words[7] = b.w;
}

// The tiles of a chunk from the words of all lanes: as they are, or transposed.
template <typename T, bool TRANSPOSED>
METAL_FUNC void make_tiles(thread const uint (&words)[kChunkTiles],
                           thread simdgroup_matrix<T, 8, 8> (&tiles)[kChunkTiles], threadgroup uint* scratch,
                           uint lane) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's lanes hold just these words: of a left operand its rows, of a right one its columns.
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    msl_set_word<T, TRANSPOSED>(tiles[j], words[j]);
  }
#else
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    simdgroup_load(tiles[j], (threadgroup const T*)(scratch + j * 32), 8, ulong2(0, 0), TRANSPOSED);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
}

// acc[i][t] += (rows i of w) (rows t of x)^T over one chunk. scratch: kTileScratch words of the simdgroup's own.
template <typename T, uint R, uint M>
METAL_FUNC void chunk_multiply(thread SumTile (&acc)[R][M], thread const uint (&w)[R][kChunkTiles],
                               thread const uint (&x)[M][kChunkTiles], threadgroup uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[R][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch + kTileScratch / 2, lane);
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's tile is 16 x 16 times 16 x 8: two of ours each way.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; j += 2) {
        msl_multiply_accumulate_pairs(acc[i][t], acc[min(i + 1, R - 1)][t], left[i][j], left[min(i + 1, R - 1)][j],
                                      left[i][j + 1], left[min(i + 1, R - 1)][j + 1], right[j], right[j + 1],
                                      i + 1 < R);
      }
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[i][t], left[i][j], right[j], acc[i][t]);
      }
    }
#endif
  }
}

// total += part, and part is zero afterwards. scratch: 128 words of the simdgroup's own
METAL_FUNC void move_sum(thread SumTile& total, thread SumTile& part, threadgroup uint* scratch, uint lane) {
#ifdef __MSL_PAIRED_MMA__
  msl_add(total, part);
#else
  threadgroup float* sums = (threadgroup float*)(scratch);
  simdgroup_store(total, sums, 8);
  simdgroup_store(part, sums + 64, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sums[lane] = sums[lane] + sums[64 + lane];
  sums[32 + lane] = sums[32 + lane] + sums[96 + lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(total, (threadgroup const float*)(sums), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

METAL_FUNC void store_words(thread const uint (&words)[kChunkTiles], threadgroup uint* to) {
  *(threadgroup uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(threadgroup uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}

METAL_FUNC void load_words(threadgroup const uint* from, thread uint (&words)[kChunkTiles]) {
  set_words(*(threadgroup const uint4*)(from), *(threadgroup const uint4*)(from + 4), words);
}

)msl"
R"msl(constant constexpr uint kRuns = 8;  // part of the result's bits

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
  return uint2(pack_half(byte_of(flipped, 0), byte_of(flipped, 1)),
               pack_half(byte_of(flipped, 2), byte_of(flipped, 3)));
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

METAL_FUNC void store_out(constant pagoda_args::Matmul& args, device float* out, uint m, uint column, float value) {
  const long at = long(m) * args.out_stride + column;
  out[at] = args.adds != 0 ? out[at] + value : value;
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
METAL_FUNC void write_out(constant pagoda_args::Matmul& args, device const float* x_scales,
                          device const float* w_scales, device const float* bias, device float* out, uint m,
                          uint column, float sum, float other, bool is_prepared, bool is_scaled) {
  const float x_scale = is_prepared ? x_scales[m] : 1.0f;
  float value = finish(sum, x_scale, is_scaled ? w_scales[column] : 1.0f, args.has_bias != 0 ? bias[column] : 0.0f);
  if (args.silu_mul != 0) {
    const uint at = args.out_cols + column;
    value = silu(value) * finish(other, x_scale, is_scaled ? w_scales[at] : 1.0f, args.has_bias != 0 ? bias[at] : 0.0f);
  }
  store_out(args, out, m, column, value);
}
// Rows of activations that a matmul normalises or gates as it reads them: the same bits as rms_norm, gated_rms_norm and
// sigmoid_gate would have written, without their launch and without the row going through memory.

// Norms and gates of activations: what their own kernels and the matmuls that make their rows share.


constant constexpr uint kRowThreads = 256;  // that sum a row's squares; part of the result's bits
constant constexpr uint kRowSimdgroups = 8;
// Loads in flight of a thread: with one row there is nothing else to wait beside.
constant constexpr uint kAhead = 8;

// A thread's share of the sum of squares of a row.
METAL_FUNC float thread_squares(device const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }

// By one simdgroup.
METAL_FUNC float head_scale(device const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }

constant constexpr uint kRmsNorm = 1;
constant constexpr uint kGatedRmsNorm = 2;
constant constexpr uint kSigmoidGate = 3;
constant constexpr uint kMostHeads = 64;

// scales[row * heads + head] of `rows` rows, by 256 threads; partial: 8 floats a row.
METAL_FUNC void row_scales(device const float* x, long x_stride, constant pagoda_args::RowSource& source, uint rows,
                           threadgroup float* scales, threadgroup float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; r < rows; ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; i < kRowSimdgroups; ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {
    // Only saves work: a gate alone reads no scales.
    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; i < rows * source.heads; i += kRowSimdgroups) {
        device const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Element `column` of a row. x and gate: at the row; scales: of the row.
METAL_FUNC float row_element(device const float* x, device const float* weight, device const float* gate,
                             constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}

// The same of four neighbours, the first at a multiple of 4.
METAL_FUNC float4 row_elements(device const float* x, device const float* weight, device const float* gate,
                               constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(device const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(device const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(device const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(device const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}

// A lane's share of a row of activations that are made here. x and gate: at the row; scales: of the row.
METAL_FUNC void load_made(device const float* x, device const float* weight, device const float* gate,
                          constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column,
                          thread uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = row_elements(x, weight, gate, source, scales, column + 4 * i);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}

// The weights of AHEAD chunks from k0 on: all loads in flight at once. Past the end they are the last chunk again, unused.
template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(device const uint* w, device const ushort* w_steps, thread const ulong (&w_at)[RT], uint k0,
                            uint end, thread Share<BITS> (&share)[AHEAD][RT]) {
  #pragma unroll
  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);
    #pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, w_at[i] + k, share[u][i]);
    }
  }
}

// Up to 8 MT rows of x against 8 RT rows of weights; the fewer, the more threadgroups there are. X: T, or float where
// activations need no preparation, or with MADE are made here.
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
)msl"
R"msl(                       device const float* gate [[buffer(7)]],
                       device float* out [[buffer(8)]],
                       constant pagoda_args::Matmul& args [[buffer(9)]],
                       uint tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint AHEAD = 4 / RT;  // chunks whose loads are in flight: the same number of bytes for any RT
  constexpr uint WIDTH = 8 * MT;
  constexpr uint SUMS = kRuns * ROWS * WIDTH;
  constexpr uint SCRATCH = kRuns * kTileScratch;
  constexpr uint SHARED = SUMS > SCRATCH ? SUMS : SCRATCH;
  constexpr uint MADE_WORDS = MADE ? WIDTH * (kMostHeads + kRowSimdgroups) : 0;
  threadgroup float shared_words[SHARED + MADE_WORDS];  // scratch of tiles first, then the sums of all runs; scales
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
  const uint begin = sg * args.run;
  Share<BITS> share[AHEAD][RT];
  load_shares<BITS, AHEAD, RT>(w, w_steps, w_at, begin, end, share);
  // Only saves work: rows that were made before have no source, and so no scales.
  if (MADE) {
    row_scales((device const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  for (uint k0 = begin; k0 < end; k0 += AHEAD * kChunk) {
    #pragma unroll
    for (uint u = 0; u < AHEAD; ++u) {
      if (k0 + u * kChunk < end) {
        uint w_words[RT][kChunkTiles];
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
            load_x(x + x_at[t] + k0 + u * kChunk, x_words[t]);
          }
        }
        #pragma unroll
        for (uint i = 0; i < RT; ++i) {
          share_words(share[u][i], w_words[i]);
        }
        chunk_multiply<T, RT, MT>(acc, w_words, x_words, scratch, lane);
      }
    }
    // Only saves work: weights past the end are not used.
    if (k0 + AHEAD * kChunk < end) {
      load_shares<BITS, AHEAD, RT>(w, w_steps, w_at, k0 + AHEAD * kChunk, end, share);
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

#define FEW(NAME, T, X, BITS, MADE, RT, MT) \
  template [[host_name("matmul_few_" NAME "_" #RT "_" #MT)]] \
  kernel decltype(matmul_few<T, X, BITS, MADE, RT, MT>) matmul_few<T, X, BITS, MADE, RT, MT>;

#define INSTANTIATE(NAME, T, BITS) \
  FEW(NAME, T, T, BITS, false, 1, 1) \
  FEW(NAME, T, T, BITS, false, 2, 1) \
  FEW(NAME, T, T, BITS, false, 2, 2) \
  FEW(NAME, T, T, BITS, false, 2, 4) \
  FEW(NAME, T, T, BITS, false, 2, 8)

INSTANTIATE("f16", half, 16)
INSTANTIATE("bf16", bfloat, 16)
INSTANTIATE("q8", half, 8)
INSTANTIATE("q4", half, 4)
FEW("direct", bfloat, float, 16, false, 1, 1)
FEW("direct", bfloat, float, 16, false, 2, 1)
FEW("direct", bfloat, float, 16, false, 2, 2)
FEW("direct", bfloat, float, 16, false, 2, 4)
FEW("direct", bfloat, float, 16, false, 2, 8)
FEW("made", bfloat, float, 16, true, 1, 1)
FEW("made", bfloat, float, 16, true, 2, 1)
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/matmul_few.metal"
# 1 "Shaders/matmul_few.metal"

# 1 "Shaders/matmul.h"
# 19 "Shaders/matmul.h"
# 1 "Shaders/args/matmul.h"



# 1 "Shaders/args/row_source.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/row_source.h"

namespace pagoda_args {



struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;
  uint kind;
  uint heads;
  uint dim;
  float eps;
  float weight_offset;
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}
# 5 "Shaders/args/matmul.h"


namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint block;
  uint reserved;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");

struct Matmul {
  long x_stride;
  long out_stride;
  uint rows;
  uint cols;
  uint out_cols;
  uint padded_cols;
  uint run;
  uint has_bias;
  uint silu_mul;
  uint adds;
  RowSource source;
};
static_assert(sizeof(Matmul) == 96, "host and kernel agree");

}
# 20 "Shaders/matmul.h"
# 1 "Shaders/tiles.h"







# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {


#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }






  }
}
# 9 "Shaders/tiles.h"

MSL_CONSTANT constexpr uint kChunk = 64;
MSL_CONSTANT constexpr uint kChunkTiles = 8;
MSL_CONSTANT constexpr uint kTileScratch = 2 * kChunkTiles * 32;

typedef simdgroup_matrix<float, 8, 8> SumTile;


METAL_FUNC uint pack_half(float first, float second) {

  return msl_pack_half(first, second);



}

METAL_FUNC uint pack_bfloat(float first, float second) {

  return msl_pack_bfloat(first, second);



}

METAL_FUNC void set_words(uint4 a, uint4 b, MSL_THREAD uint (&words)[kChunkTiles]) {
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
  words[4] = b.x;
  words[5] = b.y;
  words[6] = b.z;
  words[7] = b.w;
}


template <typename T, bool TRANSPOSED>
METAL_FUNC void make_tiles(MSL_THREAD const uint (&words)[kChunkTiles],
                           MSL_THREAD simdgroup_matrix<T, 8, 8> (&tiles)[kChunkTiles], MSL_THREADGROUP uint* scratch,
                           uint lane) {


#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    msl_set_word<T, TRANSPOSED>(tiles[j], words[j]);
  }
# 67 "Shaders/tiles.h"
}


template <typename T, uint R, uint M>
METAL_FUNC void chunk_multiply(MSL_THREAD SumTile (&acc)[R][M], MSL_THREAD const uint (&w)[R][kChunkTiles],
                               MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_THREADGROUP uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[R][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch + kTileScratch / 2, lane);


#pragma unroll
    for (uint i = 0; i < R; i += 2) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; j += 2) {
        msl_multiply_accumulate_pairs(acc[i][t], acc[min(i + 1, R - 1)][t], left[i][j], left[min(i + 1, R - 1)][j],
                                      left[i][j + 1], left[min(i + 1, R - 1)][j + 1], right[j], right[j + 1],
                                      i + 1 < R);
      }
    }
# 102 "Shaders/tiles.h"
  }
}


METAL_FUNC void move_sum(MSL_THREAD SumTile& total, MSL_THREAD SumTile& part, MSL_THREADGROUP uint* scratch, uint lane) {

  msl_add(total, part);
# 120 "Shaders/tiles.h"
  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

METAL_FUNC void store_words(MSL_THREAD const uint (&words)[kChunkTiles], MSL_THREADGROUP uint* to) {
  *(MSL_THREADGROUP uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(MSL_THREADGROUP uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}

METAL_FUNC void load_words(MSL_THREADGROUP const uint* from, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_THREADGROUP const uint4*)(from), *(MSL_THREADGROUP const uint4*)(from + 4), words);
}
# 21 "Shaders/matmul.h"

MSL_CONSTANT constexpr uint kRuns = 8;


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


METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<16>& to) {
  to.a = *(MSL_DEVICE const uint4*)(w + at / 2);
  to.b = *(MSL_DEVICE const uint4*)(w + at / 2 + 4);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<8>& to) {
  to.a = *(MSL_DEVICE const uint4*)(w + at / 4);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<4>& to) {
  to.a = *(MSL_DEVICE const uint2*)(w + at / 8);
  to.steps = uint(steps[at / 32]);
}

METAL_FUNC void share_words(MSL_THREAD const Share<16>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}


METAL_FUNC float byte_of(uint flipped, uint i) {
  return as_type<float>((flipped >> (8 * i) & 0xffu) | 0x4b000000u) - 8388736.0f;
}

METAL_FUNC uint2 words_of_bytes(uint word) {
  const uint flipped = word ^ 0x80808080u;
  return uint2(pack_half(byte_of(flipped, 0), byte_of(flipped, 1)),
               pack_half(byte_of(flipped, 2), byte_of(flipped, 3)));
}

METAL_FUNC void share_words(MSL_THREAD const Share<8>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
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

METAL_FUNC void share_words(MSL_THREAD const Share<4>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    words[j] = word_of_nibbles(share.a.x, 2 * j, share.steps);
    words[4 + j] = word_of_nibbles(share.a.y, 2 * j, share.steps);
  }
}


METAL_FUNC void load_x(MSL_DEVICE const half* x, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_DEVICE const uint4*)(x), *(MSL_DEVICE const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(MSL_DEVICE const bfloat* x, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_DEVICE const uint4*)(x), *(MSL_DEVICE const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(MSL_DEVICE const float* x, MSL_THREAD uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(MSL_DEVICE const float4*)(x + 4 * i);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}

METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}

METAL_FUNC void store_out(MSL_CONSTANT pagoda_args::Matmul& args, MSL_DEVICE float* out, uint m, uint column, float value) {
  const long at = long(m) * args.out_stride + column;
  out[at] = args.adds != 0 ? out[at] + value : value;
}



METAL_FUNC uint weight_row(MSL_CONSTANT pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    return tile * (rows / 2) + r % (rows / 2) + r / (rows / 2) * args.out_cols;
  }
  return tile * rows + r;
}


METAL_FUNC void write_out(MSL_CONSTANT pagoda_args::Matmul& args, MSL_DEVICE const float* x_scales,
                          MSL_DEVICE const float* w_scales, MSL_DEVICE const float* bias, MSL_DEVICE float* out, uint m,
                          uint column, float sum, float other, bool is_prepared, bool is_scaled) {
  const float x_scale = is_prepared ? x_scales[m] : 1.0f;
  float value = finish(sum, x_scale, is_scaled ? w_scales[column] : 1.0f, args.has_bias != 0 ? bias[column] : 0.0f);
  if (args.silu_mul != 0) {
    const uint at = args.out_cols + column;
    value = silu(value) * finish(other, x_scale, is_scaled ? w_scales[at] : 1.0f, args.has_bias != 0 ? bias[at] : 0.0f);
  }
  store_out(args, out, m, column, value);
}
# 3 "Shaders/matmul_few.metal"
# 1 "Shaders/row_source.h"





# 1 "Shaders/norms.h"





MSL_CONSTANT constexpr uint kRowThreads = 256;
MSL_CONSTANT constexpr uint kRowSimdgroups = 8;

MSL_CONSTANT constexpr uint kAhead = 8;


METAL_FUNC float thread_squares(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }


METAL_FUNC float head_scale(MSL_DEVICE const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

)msl"
R"msl(METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
# 7 "Shaders/row_source.h"

MSL_CONSTANT constexpr uint kRmsNorm = 1;
MSL_CONSTANT constexpr uint kGatedRmsNorm = 2;
MSL_CONSTANT constexpr uint kSigmoidGate = 3;
MSL_CONSTANT constexpr uint kMostHeads = 64;


METAL_FUNC void row_scales(MSL_DEVICE const float* x, long x_stride, MSL_CONSTANT pagoda_args::RowSource& source, uint rows,
                           MSL_THREADGROUP float* scales, MSL_THREADGROUP float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; r < rows; ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; i < kRowSimdgroups; ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {

    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; i < rows * source.heads; i += kRowSimdgroups) {
        MSL_DEVICE const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}


METAL_FUNC float row_element(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                             MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}


METAL_FUNC float4 row_elements(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                               MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(MSL_DEVICE const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(MSL_DEVICE const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
# 4 "Shaders/matmul_few.metal"


METAL_FUNC void load_made(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                          MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column,
                          MSL_THREAD uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = row_elements(x, weight, gate, source, scales, column + 4 * i);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}


template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* w_steps, MSL_THREAD const ulong (&w_at)[RT], uint k0,
                            uint end, MSL_THREAD Share<BITS> (&share)[AHEAD][RT]) {
#pragma unroll
  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);
#pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, w_at[i] + k, share[u][i]);
    }
  }
}




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
  constexpr uint AHEAD = 4 / RT;
  constexpr uint WIDTH = 8 * MT;
  constexpr uint SUMS = kRuns * ROWS * WIDTH;
  constexpr uint SCRATCH = kRuns * kTileScratch;
  constexpr uint SHARED = SUMS > SCRATCH ? SUMS : SCRATCH;
  constexpr uint MADE_WORDS = MADE ? WIDTH * (kMostHeads + kRowSimdgroups) : 0;
  MSL_TG_VAR(1, shared_words, [SHARED+MADE_WORDS], float)
  MSL_THREADGROUP float* scales = shared_words + SHARED;
  MSL_THREADGROUP float* parts = scales + WIDTH * kMostHeads;
  MSL_THREADGROUP uint* scratch = (MSL_THREADGROUP uint*)(shared_words) + sg * kTileScratch;

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
  const uint begin = sg * args.run;
  Share<BITS> share[AHEAD][RT];
  load_shares<BITS, AHEAD, RT>(w, w_steps, w_at, begin, end, share);

  if (MADE) {
    row_scales((MSL_DEVICE const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  for (uint k0 = begin; k0 < end; k0 += AHEAD * kChunk) {
#pragma unroll
    for (uint u = 0; u < AHEAD; ++u) {
      if (k0 + u * kChunk < end) {
        uint w_words[RT][kChunkTiles];
        uint x_words[MT][kChunkTiles];
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          if (MADE) {
            const uint m = min(8 * t + lane / 4, args.rows - 1);
            load_made((MSL_DEVICE const float*)(x) + long(m) * args.x_stride, weight,
                      gate + long(m) * args.source.gate_stride, args.source,
                      (MSL_THREADGROUP const float*)(scales + m * args.source.heads), k0 + u * kChunk + lane % 4 * 16,
                      x_words[t]);
          } else {
            load_x(x + x_at[t] + k0 + u * kChunk, x_words[t]);
          }
        }
#pragma unroll
        for (uint i = 0; i < RT; ++i) {
          share_words(share[u][i], w_words[i]);
        }
        chunk_multiply<T, RT, MT>(acc, w_words, x_words, scratch, lane);
      }
    }

    if (k0 + AHEAD * kChunk < end) {
      load_shares<BITS, AHEAD, RT>(w, w_steps, w_at, k0 + AHEAD * kChunk, end, share);
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
# 159 "Shaders/matmul_few.metal"
    
    
    
    









# 1 "matmul_few.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_f16_1_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_f16_1_1(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 16, false, 1, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_f16_2_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_f16_2_1(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 16, false, 2, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_f16_2_2)
extern "C" __global__ void __launch_bounds__(256) matmul_few_f16_2_2(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 16, false, 2, 2>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_f16_2_4)
extern "C" __global__ void __launch_bounds__(256) matmul_few_f16_2_4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 16, false, 2, 4>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_f16_2_8)
)msl"
R"msl(extern "C" __global__ void __launch_bounds__(256) matmul_few_f16_2_8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 16, false, 2, 8>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_bf16_1_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_bf16_1_1(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, bfloat, 16, false, 1, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_bf16_2_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_bf16_2_1(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, bfloat, 16, false, 2, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_bf16_2_2)
extern "C" __global__ void __launch_bounds__(256) matmul_few_bf16_2_2(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, bfloat, 16, false, 2, 2>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_bf16_2_4)
extern "C" __global__ void __launch_bounds__(256) matmul_few_bf16_2_4(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, bfloat, 16, false, 2, 4>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_bf16_2_8)
extern "C" __global__ void __launch_bounds__(256) matmul_few_bf16_2_8(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, bfloat, 16, false, 2, 8>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q8_1_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q8_1_1(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 8, false, 1, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q8_2_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q8_2_1(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 8, false, 2, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q8_2_2)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q8_2_2(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 8, false, 2, 2>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q8_2_4)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q8_2_4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 8, false, 2, 4>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q8_2_8)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q8_2_8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 8, false, 2, 8>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q4_1_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q4_1_1(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 4, false, 1, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q4_2_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q4_2_1(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 4, false, 2, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q4_2_2)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q4_2_2(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 4, false, 2, 2>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q4_2_4)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q4_2_4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 4, false, 2, 4>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_q4_2_8)
extern "C" __global__ void __launch_bounds__(256) matmul_few_q4_2_8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<half, half, 4, false, 2, 8>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_direct_1_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_direct_1_1(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, float, 16, false, 1, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_direct_2_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_direct_2_1(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
)msl"
R"msl(  matmul_few<bfloat, float, 16, false, 2, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_direct_2_2)
extern "C" __global__ void __launch_bounds__(256) matmul_few_direct_2_2(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, float, 16, false, 2, 2>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_direct_2_4)
extern "C" __global__ void __launch_bounds__(256) matmul_few_direct_2_4(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, float, 16, false, 2, 4>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_direct_2_8)
extern "C" __global__ void __launch_bounds__(256) matmul_few_direct_2_8(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, float, 16, false, 2, 8>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_made_1_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_made_1_1(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, float, 16, true, 1, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_few_made_2_1)
extern "C" __global__ void __launch_bounds__(256) matmul_few_made_2_1(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) {
  matmul_few<bfloat, float, 16, true, 2, 1>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
