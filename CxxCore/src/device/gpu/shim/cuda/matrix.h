// simdgroup_matrix of the Metal Shading Language for CUDA, on tensor cores where the types allow it.
#pragma once

#include "device/gpu/shim/cuda/simd.h"

namespace metal {

// Lane l holds elements (l / 4, 2 (l % 4)) and (l / 4, 2 (l % 4) + 1): the layout of an accumulator, and of a
// row-major A operand, of mma.m16n8k8. A B operand of mma is the transpose of that, so 16-bit matrices carry
// both; whichever goes unused is dead code to the compiler.
template <typename T, int Cols, int Rows = Cols>
struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "Metal has 8x8 only");
  T msl_e[2];
  MSL_FN T msl_at(int i) const { return msl_e[i]; }
  MSL_FN void msl_set(T e0, T e1) {
    msl_e[0] = e0;
    msl_e[1] = e1;
  }
  MSL_FN void msl_set_transposed(const T* p, ulong ld, uint r, uint c) { msl_set(p[c * ld + r], p[(c + 1) * ld + r]); }
};
MSL_FN uint msl_movmatrix(uint v) {
  uint r;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(v));
  return r;
}
template <typename T>
MSL_FN uint msl_pack(T e0, T e1) {
  ushort a, b;
  memcpy(&a, &e0, 2);
  memcpy(&b, &e1, 2);
  return uint(a) | uint(b) << 16;
}
template <typename T>
struct msl_matrix16 {
  uint rows, cols;  // packed pairs: as A and accumulators store them, and as B does
  MSL_FN T msl_at(int i) const {
    const ushort u = ushort(i ? rows >> 16 : rows);
    T t;
    memcpy(&t, &u, 2);
    return t;
  }
  MSL_FN void msl_set(T e0, T e1) {
    rows = msl_pack(e0, e1);
    cols = msl_movmatrix(rows);
  }
  MSL_FN void msl_set_transposed(const T* p, ulong ld, uint r, uint c) {
    cols = msl_pack(p[r * ld + c], p[r * ld + c + 1]);
    rows = msl_movmatrix(cols);
  }
};
template <>
struct simdgroup_matrix<half, 8, 8> : msl_matrix16<half> {};
template <>
struct simdgroup_matrix<bfloat, 8, 8> : msl_matrix16<bfloat> {};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <typename T, int C, int R>
MSL_FN simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v) {
  simdgroup_matrix<T, C, R> m;
  m.msl_set(v, v);
  return m;
}
template <typename T>
MSL_FN void simdgroup_load(simdgroup_matrix<T, 8, 8>& m, const T* src, ulong ld = 8, ulong2 origin = ulong2(0, 0),
                           bool transpose = false) {
  const uint r = msl_lane() / 4, c = msl_lane() % 4 * 2;
  const T* p = src + origin.y * ld + origin.x;
  if (transpose) {
    m.msl_set_transposed(p, ld, r, c);
  } else {
    m.msl_set(p[r * ld + c], p[r * ld + c + 1]);
  }
}
template <typename T>
MSL_FN void simdgroup_store(const simdgroup_matrix<T, 8, 8>& m, T* dst, ulong ld = 8, ulong2 origin = ulong2(0, 0),
                            bool transpose = false) {
  const uint r = msl_lane() / 4, c = msl_lane() % 4 * 2;
  T* p = dst + origin.y * ld + origin.x;
  p[transpose ? c * ld + r : r * ld + c] = m.msl_at(0);
  p[transpose ? (c + 1) * ld + r : r * ld + c + 1] = m.msl_at(1);
}

// D = A B + C for any types: products in float, operands through shuffles.
template <typename TD, typename TA, typename TB, typename TC>
MSL_FN void simdgroup_multiply_accumulate(simdgroup_matrix<TD, 8, 8>& d, const simdgroup_matrix<TA, 8, 8>& a,
                                          const simdgroup_matrix<TB, 8, 8>& b, const simdgroup_matrix<TC, 8, 8>& c) {
  const uint r = msl_lane() / 4, t = msl_lane() % 4;
  const float a0 = float(a.msl_at(0)), a1 = float(a.msl_at(1)), b0 = float(b.msl_at(0)), b1 = float(b.msl_at(1));
  float d0 = float(c.msl_at(0)), d1 = float(c.msl_at(1));
  _Pragma("unroll") for (int k = 0; k < 8; ++k) {
    const float av = __shfl_sync(0xffffffffu, k & 1 ? a1 : a0, r * 4 + k / 2);
    d0 += av * __shfl_sync(0xffffffffu, b0, k * 4 + t);
    d1 += av * __shfl_sync(0xffffffffu, b1, k * 4 + t);
  }
  d.msl_set(TD(d0), TD(d1));
}
#ifndef MSL_NO_TENSOR_CORES
// 16-bit inputs, float accumulators: mma.m16n8k8 with the lower 8 rows of A empty.
#define MSL_TENSOR_MMA(T, NAME)                                                                                   \
  MSL_FN void simdgroup_multiply_accumulate(simdgroup_float8x8& d, const simdgroup_matrix<T, 8, 8>& a,            \
                                            const simdgroup_matrix<T, 8, 8>& b, const simdgroup_float8x8& c) {    \
    float e[4];                                                                                                   \
    asm("mma.sync.aligned.m16n8k8.row.col.f32." NAME "." NAME ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%9};" \
        : "=f"(e[0]), "=f"(e[1]), "=f"(e[2]), "=f"(e[3])                                                          \
        : "r"(a.rows), "r"(0u), "r"(b.cols), "f"(c.msl_e[0]), "f"(c.msl_e[1]), "f"(0.0f));                        \
    d.msl_e[0] = e[0];                                                                                            \
    d.msl_e[1] = e[1];                                                                                            \
  }
#define MSL_TENSOR_PAIR(T, NAME)                                                                                     \
  MSL_FN void msl_multiply_accumulate_pair(simdgroup_float8x8& d0, simdgroup_float8x8& d1,                           \
                                           const simdgroup_matrix<T, 8, 8>& a0, const simdgroup_matrix<T, 8, 8>& a1, \
                                           const simdgroup_matrix<T, 8, 8>& b) {                                     \
    asm("mma.sync.aligned.m16n8k8.row.col.f32." NAME "." NAME ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"    \
        : "+f"(d0.msl_e[0]), "+f"(d0.msl_e[1]), "+f"(d1.msl_e[0]), "+f"(d1.msl_e[1])                                 \
        : "r"(a0.rows), "r"(a1.rows), "r"(b.cols));                                                                  \
  }
MSL_TENSOR_PAIR(half, "f16")
MSL_TENSOR_PAIR(bfloat, "bf16")
#undef MSL_TENSOR_PAIR
MSL_TENSOR_MMA(half, "f16")
MSL_TENSOR_MMA(bfloat, "bf16")
#undef MSL_TENSOR_MMA
#endif

// The operations of Shaders/tiles.h in registers. Lane l provides row l / 4, columns 2 (l % 4) and the next.
MSL_FN uint msl_pack_half(float first, float second) {
  uint word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
MSL_FN uint msl_pack_bfloat(float first, float second) {
  uint word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
MSL_FN uint msl_fma_bfloats(uint a, uint b, uint c) {
  uint word;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(word) : "r"(a), "r"(b), "r"(c));
  return word;
}
// (a & mask) | bits: the compiler takes two instructions if both are constants.
MSL_FN uint msl_and_or(uint a, uint mask, uint bits) {
  uint word;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(word) : "r"(a), "r"(mask), "r"(bits));
  return word;
}
// The upper half of a word in both halves.
MSL_FN uint msl_twice(float v) { return __byte_perm(__float_as_uint(v), 0, 0x3232); }
template <typename T, bool TRANSPOSED>
MSL_FN void msl_set_word(simdgroup_matrix<T, 8, 8>& m, uint word) {
  if (TRANSPOSED) m.cols = word;
  else m.rows = word;
}
// Of a right operand that is not transposed.
template <typename T>
MSL_FN void msl_set_row_word(simdgroup_matrix<T, 8, 8>& m, uint word) {
  m.cols = msl_movmatrix(word);
}
MSL_FN void msl_add(simdgroup_float8x8& total, const simdgroup_float8x8& part) {
  total.msl_e[0] = total.msl_e[0] + part.msl_e[0];
  total.msl_e[1] = total.msl_e[1] + part.msl_e[1];
}
MSL_FN void msl_add_scaled(simdgroup_float8x8& sum, const simdgroup_float8x8& part, float factor) {
  sum.msl_e[0] = fma(factor, part.msl_e[0], sum.msl_e[0]);
  sum.msl_e[1] = fma(factor, part.msl_e[1], sum.msl_e[1]);
}
// d0 += a0 b0 + a2 b1 and, with `both`, d1 += a1 b0 + a3 b1.
#define MSL_TENSOR_PAIRS(T, NAME)                                                                                      \
  MSL_FN void msl_multiply_accumulate_pairs(                                                                           \
      simdgroup_float8x8& d0, simdgroup_float8x8& d1, const simdgroup_matrix<T, 8, 8>& a0,                             \
      const simdgroup_matrix<T, 8, 8>& a1, const simdgroup_matrix<T, 8, 8>& a2, const simdgroup_matrix<T, 8, 8>& a3,   \
      const simdgroup_matrix<T, 8, 8>& b0, const simdgroup_matrix<T, 8, 8>& b1, bool both) {                           \
    float e0 = both ? d1.msl_e[0] : 0.0f, e1 = both ? d1.msl_e[1] : 0.0f;                                              \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." NAME "." NAME                                                         \
        ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                                   \
        : "+f"(d0.msl_e[0]), "+f"(d0.msl_e[1]), "+f"(e0), "+f"(e1)                                                     \
        : "r"(a0.rows), "r"(both ? a1.rows : 0u), "r"(a2.rows), "r"(both ? a3.rows : 0u), "r"(b0.cols), "r"(b1.cols)); \
    if (both) d1.msl_e[0] = e0, d1.msl_e[1] = e1;                                                                      \
  }
MSL_TENSOR_PAIRS(half, "f16")
MSL_TENSOR_PAIRS(bfloat, "bf16")
#undef MSL_TENSOR_PAIRS

template <typename T>
MSL_FN bool msl_is_wide(const T* p) {
  return (ulong)p % 16 == 0;
}
// acc[r][j] += weights of 16 keys times column j of eight, for a lane with four keys of eight columns each: of a right
// operand, a lane holds pairs of keys.
template <typename T, uint RT>
MSL_FN void msl_multiply_rows(simdgroup_float8x8 (&acc)[RT][8], uint j, const uint (&w)[RT][2], const uint4 (&v)[4]) {
  const uint at = j / 2, order = j % 2 ? 0x7632u : 0x5410u;
  simdgroup_matrix<T, 8, 8> low, high, a[4];
  low.cols = __byte_perm(v[0][at], v[1][at], order);
  high.cols = __byte_perm(v[2][at], v[3][at], order);
  constexpr uint last = RT - 1;
  a[0].rows = w[0][0], a[1].rows = w[last][0], a[2].rows = w[0][1], a[3].rows = w[last][1];
  msl_multiply_accumulate_pairs(acc[0][j], acc[last][j], a[0], a[1], a[2], a[3], low, high, RT == 2);
}

template <typename TD, typename TA, typename TB>
MSL_FN void simdgroup_multiply(simdgroup_matrix<TD, 8, 8>& d, const simdgroup_matrix<TA, 8, 8>& a,
                               const simdgroup_matrix<TB, 8, 8>& b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<float, 8, 8>(0.0f));
}

}  // namespace metal
