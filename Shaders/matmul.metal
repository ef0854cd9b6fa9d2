// matmul: out = x W^T + bias, or silu of its first half times the second.
//
// 16-bit, 8-bit and 4-bit weights meet activations rounded to 16 bits in 8x8 matrix products with float sums. An output
// is the sum of four quarters of the columns, in order; within a quarter 8 columns at a time, in order. That holds for
// any number of rows, so a row's bits do not depend on it. matmul_few takes up to 16 rows and gives each quarter to a
// simdgroup; matmul_tiles takes any number and goes through the quarters one after the other.
//
// Activations: matmul_rows_* makes [rows, padded_cols] of them, and a scale for each row. For bfloat weights they are
// bfloats, scale 1. Otherwise they are halfs, divided by a power of two so that none overflows; and rotated as the
// weights are where those are quantised. Numbers of 8 and 4 bits are whole and at most 128: halfs hold them exactly.
//
// Weights: rows in order, zeros after the last column and row. 8 bits: a byte each. 4 bits: a nibble each, low ones
// first, and a pair (step, offset) for every 32 columns. Both with a float scale for each row.
#include "common.h"
#include "args/matmul.h"

constant constexpr uint kQuarters = 4;

// Grid: [rows]
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_rows_bfloat(device const float* x [[buffer(0)]],
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
    scales[row] = power_below(magnitudes, true);
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
      to[first + i] = half(tile[i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template [[host_name("matmul_rows_half")]] kernel decltype(matmul_rows<false>) matmul_rows<false>;
template [[host_name("matmul_rows_rotated")]] kernel decltype(matmul_rows<true>) matmul_rows<true>;

// Eight columns of a row of weights, `at` being its first one's index.
template <typename T, uint BITS>
METAL_FUNC void stage_weights(device const uint* w, device const uchar* steps, ulong at, threadgroup T* to) {
  if (BITS == 16) {
    device const vec<T, 4>* from = (device const vec<T, 4>*)(w + at / 2);
    *(threadgroup vec<T, 4>*)(to) = from[0];
    *(threadgroup vec<T, 4>*)(to + 4) = from[1];
  } else if (BITS == 8) {
    const uint low = w[at / 4];
    const uint high = w[at / 4 + 1];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      to[i] = T(signed_byte(low, i));
      to[4 + i] = T(signed_byte(high, i));
    }
  } else {
    const uint word = w[at / 8];
    const uint step = steps[at / 32 * 2];
    const uint offset = steps[at / 32 * 2 + 1];
    #pragma unroll
    for (uint i = 0; i < 8; ++i) {
      to[i] = T(stepped_nibble(word, i, step, offset));
    }
  }
}

METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}

// The first row of weights in each half of a tile of 2 * half_rows: neighbours, or a gate and its other factor.
METAL_FUNC uint half_row(constant pagoda_args::Matmul& args, uint tile, uint which, uint half_rows) {
  if (args.silu_mul != 0) {
    return tile * half_rows + which * args.out_cols;
  }
  return (2 * tile + which) * half_rows;
}

// MT tiles of 8 rows of x against 16 rows of weights. Grid: [out_cols / 16, or / 8 with silu_mul]
template <typename T, uint BITS, uint MT>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_few(device const T* x [[buffer(0)]],
                       device const float* x_scales [[buffer(1)]],
                       device const uint* w [[buffer(2)]],
                       device const uchar* w_steps [[buffer(3)]],
                       device const float* w_scales [[buffer(4)]],
                       device const float* bias [[buffer(5)]],
                       device float* out [[buffer(6)]],
                       constant pagoda_args::Matmul& args [[buffer(7)]],
                       uint tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint BK = 64;
  constexpr uint LD = BK + 8;
  constexpr uint WIDTH = 8 * MT;
  threadgroup T w_tile[kQuarters * 16 * LD];
  threadgroup float parts[kQuarters * 16 * WIDTH];

  const uint row[2] = {half_row(args, tg, 0, 8), half_row(args, tg, 1, 8)};
  simdgroup_matrix<float, 8, 8> acc[2][MT];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    #pragma unroll
    for (uint j = 0; j < MT; ++j) {
      acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  threadgroup T* tile = w_tile + sg * 16 * LD;
  const uint end = min((sg + 1) * args.quarter, args.padded_cols);
  for (uint k0 = sg * args.quarter; k0 < end; k0 += BK) {
    const uint cols = min(BK, end - k0);
    #pragma unroll
    for (uint i = 0; i < 16 * BK / 8 / 32; ++i) {
      const uint r = (i * 32 + lane) / (BK / 8);
      const uint k = (i * 32 + lane) % (BK / 8) * 8;
      if (k < cols) {
        const ulong at = ulong(row[r / 8] + r % 8) * args.padded_cols + k0 + k;
        stage_weights<T, BITS>(w, w_steps, at, tile + r * LD + k);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < cols; k += 8) {
      simdgroup_matrix<T, 8, 8> w_mat[2];
      simdgroup_matrix<T, 8, 8> x_mat[MT];
      simdgroup_load(w_mat[0], tile + k, LD);
      simdgroup_load(w_mat[1], tile + 8 * LD + k, LD);
      #pragma unroll
      for (uint j = 0; j < MT; ++j) {
        simdgroup_load(x_mat[j], x + ulong(8 * j) * args.padded_cols + k0 + k, args.padded_cols, ulong2(0, 0), true);
      }
      tile_multiply_accumulate<T, 2, MT>(acc, w_mat, x_mat);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    #pragma unroll
    for (uint j = 0; j < MT; ++j) {
      simdgroup_store(acc[i][j], parts + (sg * 16 + 8 * i) * WIDTH + 8 * j, WIDTH);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = tid; i < 8 * WIDTH; i += 128) {
    const uint n = i / WIDTH;
    const uint m = i % WIDTH;
    float value[2];
    #pragma unroll
    for (uint half_index = 0; half_index < 2; ++half_index) {
      float sum = 0.0f;
      for (uint q = 0; q < kQuarters; ++q) {
        sum += parts[(q * 16 + half_index * 8 + n) * WIDTH + m];
      }
      const uint at = row[half_index] + n;
      value[half_index] = sum;
      if (m < args.rows && row[0] + n < args.out_cols && (args.silu_mul != 0 || at < args.out_cols)) {
        const float w_scale = BITS == 16 ? 1.0f : w_scales[at];
        value[half_index] = finish(sum, x_scales[m], w_scale, args.has_bias != 0 ? bias[at] : 0.0f);
        if (args.silu_mul == 0) {
          out[long(m) * args.out_stride + at] = value[half_index];
        }
      }
    }
    if (args.silu_mul != 0 && m < args.rows && row[0] + n < args.out_cols) {
      out[long(m) * args.out_stride + row[0] + n] = silu(value[0]) * value[1];
    }
  }
}

// 64 rows of weights against 64 rows of x; a simdgroup has 32 of each. Grid: [out_cols / 64, or / 32, rows / 64]
template <typename T, uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_tiles(device const T* x [[buffer(0)]],
                         device const float* x_scales [[buffer(1)]],
                         device const uint* w [[buffer(2)]],
                         device const uchar* w_steps [[buffer(3)]],
                         device const float* w_scales [[buffer(4)]],
                         device const float* bias [[buffer(5)]],
                         device float* out [[buffer(6)]],
                         constant pagoda_args::Matmul& args [[buffer(7)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]]) {
  constexpr uint BM = 64;
  constexpr uint BN = 64;
  constexpr uint BK = 32;
  constexpr uint LD = BK + 8;  // rows start in different banks
  constexpr uint LDC = BM + 4;
  constexpr uint EACH = BM * BN / 128;
  threadgroup T w_tile[BN * LD];
  threadgroup T x_tile[BM * LD];
  threadgroup float c_tile[BN * LDC];

  const uint row[2] = {half_row(args, tg.x, 0, BN / 2), half_row(args, tg.x, 1, BN / 2)};
  const uint m0 = tg.y * BM;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;
  float total[EACH];
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
  for (uint q = 0; q < kQuarters; ++q) {
    simdgroup_matrix<float, 8, 8> acc[4][4];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      #pragma unroll
      for (uint j = 0; j < 4; ++j) {
        acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }
    const uint end = min((q + 1) * args.quarter, args.padded_cols);
    for (uint k0 = q * args.quarter; k0 < end; k0 += BK) {
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        const uint r = (i * 128 + tid) / (BK / 8);
        const uint k = (i * 128 + tid) % (BK / 8) * 8;
        const ulong at = ulong(row[r / (BN / 2)] + r % (BN / 2)) * args.padded_cols + k0 + k;
        stage_weights<T, BITS>(w, w_steps, at, w_tile + r * LD + k);
        device const vec<T, 4>* from = (device const vec<T, 4>*)(x + ulong(m0 + r) * args.padded_cols + k0 + k);
        *(threadgroup vec<T, 4>*)(x_tile + r * LD + k) = from[0];
        *(threadgroup vec<T, 4>*)(x_tile + r * LD + k + 4) = from[1];
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      #pragma unroll
      for (uint k = 0; k < BK; k += 8) {
        simdgroup_matrix<T, 8, 8> w_mat[4];
        simdgroup_matrix<T, 8, 8> x_mat[4];
        #pragma unroll
        for (uint i = 0; i < 4; ++i) {
          simdgroup_load(w_mat[i], w_tile + (sg_n + i * 8) * LD + k, LD);
          simdgroup_load(x_mat[i], x_tile + (sg_m + i * 8) * LD + k, LD, ulong2(0, 0), true);
        }
        tile_multiply_accumulate<T, 4, 4>(acc, w_mat, x_mat);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      #pragma unroll
      for (uint j = 0; j < 4; ++j) {
        simdgroup_store(acc[i][j], c_tile + (sg_n + i * 8) * LDC + sg_m + j * 8, LDC);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint at = i * 128 + tid;
      total[i] += c_tile[at % BN * LDC + at / BN];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  // A thread's elements are all of one row of weights.
  const uint n = tid % BN;
  const uint at = row[n / (BN / 2)] + n % (BN / 2);
  const bool is_inside = args.silu_mul != 0 ? row[0] + n % (BN / 2) < args.out_cols : at < args.out_cols;
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint m = m0 + (i * 128 + tid) / BN;
    if (is_inside && m < args.rows) {
      const float value =
          finish(total[i], x_scales[m], BITS == 16 ? 1.0f : w_scales[at], args.has_bias != 0 ? bias[at] : 0.0f);
      if (args.silu_mul == 0) {
        out[long(m) * args.out_stride + at] = value;
      } else {
        c_tile[n * LDC + m - m0] = value;
      }
    }
  }
  if (args.silu_mul != 0) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < BM * BN / 2; i += 128) {
      const uint gate = i % (BN / 2);
      const uint m = i / (BN / 2);
      if (m0 + m < args.rows && row[0] + gate < args.out_cols) {
        out[long(m0 + m) * args.out_stride + row[0] + gate] =
            silu(c_tile[gate * LDC + m]) * c_tile[(BN / 2 + gate) * LDC + m];
      }
    }
  }
}

#define INSTANTIATE(NAME, T, BITS) \
  template [[host_name("matmul_few_" NAME "_1")]] kernel decltype(matmul_few<T, BITS, 1>) matmul_few<T, BITS, 1>; \
  template [[host_name("matmul_few_" NAME "_2")]] kernel decltype(matmul_few<T, BITS, 2>) matmul_few<T, BITS, 2>; \
  template [[host_name("matmul_tiles_" NAME)]] kernel decltype(matmul_tiles<T, BITS>) matmul_tiles<T, BITS>;

INSTANTIATE("half", half, 16)
INSTANTIATE("bfloat", bfloat, 16)
INSTANTIATE("8bit", half, 8)
INSTANTIATE("4bit", half, 4)

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
kernel void matmul_float(device const float* x [[buffer(0)]],
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
