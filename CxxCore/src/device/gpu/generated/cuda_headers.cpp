// Headers that the CUDA text includes, by name. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
std::span<const KernelHeader> cuda_headers() noexcept {
  static constexpr KernelHeader kHeaders[] = {
    {"device/gpu/shim/vec.h",
R"msl(// vec<T, N> and the component-wise functions, shared by the software and CUDA shims. Vectors are passed by value: a
// reference to device memory would be read component by component. The includer first defines MSL_FN (function
// qualifiers), half, bfloat and the scalar math functions.
#pragma once

// With MSL_WIDE_COPY the includer defines msl_wide<bytes>::type, a builtin type of that size; vectors are then copied
// as one value of that type, so that a device load of half4 is one load and not four.
#ifdef MSL_WIDE_COPY
#define MSL_VEC_COPY                                                                                 \
  MSL_FN vec(const vec& o) {                                                                         \
    *(typename msl_wide<sizeof(vec)>::type*)this = *(const typename msl_wide<sizeof(vec)>::type*)&o; \
  }                                                                                                  \
  MSL_FN vec& operator=(const vec& o) {                                                              \
    *(typename msl_wide<sizeof(vec)>::type*)this = *(const typename msl_wide<sizeof(vec)>::type*)&o; \
    return *this;                                                                                    \
  }
#elif defined(MSL_CHECKED)
// A user-defined copy constructor lets -fsanitize=alignment check vector loads.
#define MSL_VEC_COPY                                                          \
  MSL_FN vec(const vec& o) {                                                  \
    for (unsigned i = 0; i < sizeof(vec) / sizeof(T); ++i) (*this)[i] = o[i]; \
  }                                                                           \
  MSL_FN vec& operator=(const vec& o) {                                       \
    for (unsigned i = 0; i < sizeof(vec) / sizeof(T); ++i) (*this)[i] = o[i]; \
    return *this;                                                             \
  }
#else
#define MSL_VEC_COPY
#endif

namespace metal {

template <typename T, int N>
struct vec;

template <typename T>
struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;
  vec() = default;
  MSL_VEC_COPY
  MSL_FN vec(T s) : x(s), y(s) {}
  MSL_FN vec(T a, T b) : x(a), y(b) {}
  template <typename U>
  MSL_FN explicit vec(vec<U, 2> o) : x(T(o.x)), y(T(o.y)) {}
  MSL_FN T& operator[](unsigned i) { return (&x)[i]; }
  MSL_FN const T& operator[](unsigned i) const { return (&x)[i]; }
};

template <typename T>
struct alignas(4 * sizeof(T)) vec<T, 3> {
  T x, y, z;
  vec() = default;
  MSL_FN vec(T s) : x(s), y(s), z(s) {}
  MSL_FN vec(T a, T b, T c) : x(a), y(b), z(c) {}
  MSL_FN vec(vec<T, 2> ab, T c) : x(ab.x), y(ab.y), z(c) {}
  template <typename U>
  MSL_FN explicit vec(vec<U, 3> o) : x(T(o.x)), y(T(o.y)), z(T(o.z)) {}
  MSL_FN T& operator[](unsigned i) { return (&x)[i]; }
  MSL_FN const T& operator[](unsigned i) const { return (&x)[i]; }
};

template <typename T>
struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  MSL_VEC_COPY
  MSL_FN vec(T s) : x(s), y(s), z(s), w(s) {}
  MSL_FN vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  MSL_FN vec(vec<T, 2> ab, vec<T, 2> cd) : x(ab.x), y(ab.y), z(cd.x), w(cd.y) {}
  MSL_FN vec(vec<T, 2> ab, T c, T d) : x(ab.x), y(ab.y), z(c), w(d) {}
  MSL_FN vec(vec<T, 3> abc, T d) : x(abc.x), y(abc.y), z(abc.z), w(d) {}
  template <typename U>
  MSL_FN explicit vec(vec<U, 4> o) : x(T(o.x)), y(T(o.y)), z(T(o.z)), w(T(o.w)) {}
  MSL_FN T& operator[](unsigned i) { return (&x)[i]; }
  MSL_FN const T& operator[](unsigned i) const { return (&x)[i]; }
};

template <typename T, int N>
struct packed_vec {
  T v[N];
  packed_vec() = default;
  MSL_FN packed_vec(vec<T, N> o) {
    for (int i = 0; i < N; ++i) v[i] = o[i];
  }
  MSL_FN operator vec<T, N>() const {
    vec<T, N> r;
    for (int i = 0; i < N; ++i) r[i] = v[i];
    return r;
  }
  MSL_FN T& operator[](unsigned i) { return v[i]; }
  MSL_FN const T& operator[](unsigned i) const { return v[i]; }
};

template <typename T>
struct msl_identity {
  typedef T type;
};

// Scalar operands do not take part in deduction, so that `v * 2` and `2.0f * v` convert as in Metal.
#define MSL_BINARY(OP)                                                          \
  template <typename T, int N>                                                  \
  MSL_FN vec<T, N> operator OP(vec<T, N> a, vec<T, N> b) {                      \
    vec<T, N> r;                                                                \
    for (int i = 0; i < N; ++i) r[i] = a[i] OP b[i];                            \
    return r;                                                                   \
  }                                                                             \
  template <typename T, int N>                                                  \
  MSL_FN vec<T, N> operator OP(vec<T, N> a, typename msl_identity<T>::type b) { \
    return a OP vec<T, N>(b);                                                   \
  }                                                                             \
  template <typename T, int N>                                                  \
  MSL_FN vec<T, N> operator OP(typename msl_identity<T>::type a, vec<T, N> b) { \
    return vec<T, N>(a) OP b;                                                   \
  }
MSL_BINARY(+)
MSL_BINARY(-)
MSL_BINARY(*)
MSL_BINARY(/)
MSL_BINARY(%)
MSL_BINARY(&)
MSL_BINARY(|)
MSL_BINARY(^)
MSL_BINARY(<<)
MSL_BINARY(>>)
#undef MSL_BINARY

#define MSL_ASSIGN(OP)                                                               \
  template <typename T, int N>                                                       \
  MSL_FN vec<T, N>& operator OP##=(vec<T, N>& a, vec<T, N> b) {                      \
    return a = a OP b;                                                               \
  }                                                                                  \
  template <typename T, int N>                                                       \
  MSL_FN vec<T, N>& operator OP##=(vec<T, N>& a, typename msl_identity<T>::type b) { \
    return a = a OP b;                                                               \
  }
MSL_ASSIGN(+)
MSL_ASSIGN(-)
MSL_ASSIGN(*)
MSL_ASSIGN(/)
#undef MSL_ASSIGN

#define MSL_COMPARE(OP)                                       \
  template <typename T, int N>                                \
  MSL_FN vec<bool, N> operator OP(vec<T, N> a, vec<T, N> b) { \
    vec<bool, N> r;                                           \
    for (int i = 0; i < N; ++i) r[i] = a[i] OP b[i];          \
    return r;                                                 \
  }
MSL_COMPARE(<)
MSL_COMPARE(>)
MSL_COMPARE(<=)
MSL_COMPARE(>=)
MSL_COMPARE(==)
MSL_COMPARE(!=)
#undef MSL_COMPARE

template <typename T, int N>
MSL_FN vec<T, N> operator-(vec<T, N> a) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = -a[i];
  return r;
}
template <typename T, int N>
MSL_FN T dot(vec<T, N> a, vec<T, N> b) {
  T r = a[0] * b[0];
  for (int i = 1; i < N; ++i) r += a[i] * b[i];
  return r;
}
template <int N>
MSL_FN bool any(vec<bool, N> a) {
  bool r = false;
  for (int i = 0; i < N; ++i) r |= a[i];
  return r;
}
template <int N>
MSL_FN bool all(vec<bool, N> a) {
  bool r = true;
  for (int i = 0; i < N; ++i) r &= a[i];
  return r;
}

#define MSL_UNARY_FN(NAME)                         \
  template <typename T, int N>                     \
  MSL_FN vec<T, N> NAME(vec<T, N> a) {             \
    vec<T, N> r;                                   \
    for (int i = 0; i < N; ++i) r[i] = NAME(a[i]); \
    return r;                                      \
  }
MSL_UNARY_FN(exp)
MSL_UNARY_FN(exp2)
MSL_UNARY_FN(log)
MSL_UNARY_FN(log2)
MSL_UNARY_FN(sqrt)
MSL_UNARY_FN(rsqrt)
MSL_UNARY_FN(tanh)
MSL_UNARY_FN(sin)
MSL_UNARY_FN(cos)
MSL_UNARY_FN(floor)
MSL_UNARY_FN(ceil)
MSL_UNARY_FN(rint)
MSL_UNARY_FN(abs)
#undef MSL_UNARY_FN

#define MSL_BINARY_FN(NAME)                              \
  template <typename T, int N>                           \
  MSL_FN vec<T, N> NAME(vec<T, N> a, vec<T, N> b) {      \
    vec<T, N> r;                                         \
    for (int i = 0; i < N; ++i) r[i] = NAME(a[i], b[i]); \
    return r;                                            \
  }
MSL_BINARY_FN(min)
MSL_BINARY_FN(max)
MSL_BINARY_FN(pow)
#undef MSL_BINARY_FN

template <typename T, int N>
MSL_FN vec<T, N> fma(vec<T, N> a, vec<T, N> b, vec<T, N> c) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = fma(a[i], b[i], c[i]);
  return r;
}
template <typename T, int N>
MSL_FN vec<T, N> clamp(vec<T, N> v, typename msl_identity<T>::type lo, typename msl_identity<T>::type hi) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = clamp(v[i], lo, hi);
  return r;
}
template <typename T, int N>
MSL_FN vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = c[i] ? b[i] : a[i];
  return r;
}

#define MSL_NAMES(T)                      \
  typedef vec<T, 2> T##2;                 \
  typedef vec<T, 3> T##3;                 \
  typedef vec<T, 4> T##4;                 \
  typedef packed_vec<T, 2> packed_##T##2; \
  typedef packed_vec<T, 3> packed_##T##3; \
  typedef packed_vec<T, 4> packed_##T##4;
MSL_NAMES(float)
MSL_NAMES(half)
MSL_NAMES(bfloat)
MSL_NAMES(int)
MSL_NAMES(uint)
MSL_NAMES(short)
MSL_NAMES(ushort)
MSL_NAMES(char)
MSL_NAMES(uchar)
MSL_NAMES(long)
MSL_NAMES(ulong)
MSL_NAMES(bool)
#undef MSL_NAMES

}  // namespace metal
)msl"},
    {"device/gpu/shim/cuda/math.h",
R"msl(// Mathematical functions of the Metal Shading Language for CUDA.
#pragma once

#include "device/gpu/shim/cuda/types.h"

namespace metal {

#define MSL_MATH1(NAME, CALL)                 \
  MSL_FN float NAME(float x) { return CALL; } \
  MSL_FN half NAME(half h) {                  \
    const float x = h;                        \
    return half(CALL);                        \
  }
MSL_MATH1(exp, ::expf(x))
MSL_MATH1(exp2, ::exp2f(x))
MSL_MATH1(log, ::logf(x))
MSL_MATH1(log2, ::log2f(x))
MSL_MATH1(sqrt, ::sqrtf(x))
MSL_MATH1(rsqrt, ::rsqrtf(x))
MSL_MATH1(tanh, ::tanhf(x))
MSL_MATH1(sin, ::sinf(x))
MSL_MATH1(cos, ::cosf(x))
MSL_MATH1(floor, ::floorf(x))
MSL_MATH1(ceil, ::ceilf(x))
MSL_MATH1(rint, ::rintf(x))
MSL_MATH1(fabs, ::fabsf(x))
MSL_MATH1(abs, ::fabsf(x))
namespace fast {
MSL_MATH1(exp, __expf(x))
MSL_MATH1(exp2, exp2f(x))
MSL_MATH1(log, __logf(x))
MSL_MATH1(log2, __log2f(x))
MSL_MATH1(sin, __sinf(x))
MSL_MATH1(cos, __cosf(x))
MSL_MATH1(sqrt, ::sqrtf(x))
MSL_MATH1(rsqrt, ::rsqrtf(x))
MSL_MATH1(tanh, ::tanhf(x))
}  // namespace fast
namespace precise {
MSL_MATH1(exp, ::expf(x))
MSL_MATH1(exp2, ::exp2f(x))
MSL_MATH1(log, ::logf(x))
MSL_MATH1(log2, ::log2f(x))
MSL_MATH1(sin, ::sinf(x))
MSL_MATH1(cos, ::cosf(x))
MSL_MATH1(sqrt, ::sqrtf(x))
MSL_MATH1(rsqrt, ::rsqrtf(x))
MSL_MATH1(tanh, ::tanhf(x))
}  // namespace precise
#undef MSL_MATH1
MSL_FN int abs(int x) { return x < 0 ? -x : x; }
MSL_FN float pow(float x, float y) { return ::powf(x, y); }
MSL_FN float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
#define MSL_ORDER(T)                                              \
  MSL_FN T min(T a, T b) { return b < a ? b : a; }                \
  MSL_FN T max(T a, T b) { return a < b ? b : a; }                \
  MSL_FN T clamp(T v, T lo, T hi) { return min(max(v, lo), hi); } \
  MSL_FN T select(T a, T b, bool c) { return c ? b : a; }
MSL_ORDER(float)
MSL_ORDER(half)
MSL_ORDER(int)
MSL_ORDER(uint)
MSL_ORDER(short)
MSL_ORDER(ushort)
MSL_ORDER(long)
MSL_ORDER(ulong)
#undef MSL_ORDER
MSL_FN float fmin(float a, float b) { return ::fminf(a, b); }
MSL_FN float fmax(float a, float b) { return ::fmaxf(a, b); }
MSL_FN uint popcount(uint x) { return uint(__popc(x)); }
MSL_FN uint clz(uint x) { return uint(__clz(int(x))); }

template <int Bytes>
struct msl_wide;
#define MSL_WIDE(BYTES, ...)  \
  template <>                 \
  struct msl_wide<BYTES> {    \
    typedef __VA_ARGS__ type; \
  };
MSL_WIDE(2, ushort)
MSL_WIDE(4, uint)
MSL_WIDE(8, ::uint2)
MSL_WIDE(16, ::uint4)
struct alignas(32) msl_wide32 {
  ::uint4 a, b;
};
MSL_WIDE(32, msl_wide32)
#undef MSL_WIDE

}  // namespace metal

#define MSL_WIDE_COPY
#include "device/gpu/shim/vec.h"
)msl"},
    {"device/gpu/shim/cuda/matrix.h",
R"msl(// simdgroup_matrix of the Metal Shading Language for CUDA, on tensor cores where the types allow it.
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
template <typename T, bool TRANSPOSED>
MSL_FN void msl_set_word(simdgroup_matrix<T, 8, 8>& m, uint word) {
  if (TRANSPOSED) m.cols = word;
  else m.rows = word;
}
MSL_FN void msl_add(simdgroup_float8x8& total, const simdgroup_float8x8& part) {
  total.msl_e[0] = total.msl_e[0] + part.msl_e[0];
  total.msl_e[1] = total.msl_e[1] + part.msl_e[1];
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
)msl"},
    {"device/gpu/shim/cuda/msl.h",
R"msl(// The whole portable subset for CUDA, including atomics and kernel inputs; translated kernels include this.
#pragma once

#include "device/gpu/shim/cuda/matrix.h"

namespace metal {

enum memory_order { memory_order_relaxed };
template <typename T>
struct msl_atomic {
  T v;
};
typedef msl_atomic<int> atomic_int;
typedef msl_atomic<uint> atomic_uint;
typedef msl_atomic<float> atomic_float;
template <typename T>
MSL_FN T atomic_load_explicit(const msl_atomic<T>* p, memory_order) {
  return *(const volatile T*)&p->v;
}
template <typename T>
MSL_FN void atomic_store_explicit(msl_atomic<T>* p, typename msl_identity<T>::type v, memory_order) {
  *(volatile T*)&p->v = v;
}
#define MSL_ATOMIC(NAME, FN)                                                        \
  template <typename T>                                                             \
  MSL_FN T NAME(msl_atomic<T>* p, typename msl_identity<T>::type v, memory_order) { \
    return FN(&p->v, v);                                                            \
  }
MSL_ATOMIC(atomic_fetch_add_explicit, atomicAdd)
MSL_ATOMIC(atomic_fetch_max_explicit, atomicMax)
MSL_ATOMIC(atomic_fetch_min_explicit, atomicMin)
MSL_ATOMIC(atomic_fetch_or_explicit, atomicOr)
MSL_ATOMIC(atomic_fetch_and_explicit, atomicAnd)
MSL_ATOMIC(atomic_exchange_explicit, atomicExch)
#undef MSL_ATOMIC

struct msl_u3 {
  uint x, y, z;
};
MSL_FN msl_u3 msl_thread_position_in_threadgroup() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
MSL_FN msl_u3 msl_threadgroup_position_in_grid() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
MSL_FN msl_u3 msl_threads_per_threadgroup() { return {blockDim.x, blockDim.y, blockDim.z}; }
MSL_FN msl_u3 msl_threadgroups_per_grid() { return {gridDim.x, gridDim.y, gridDim.z}; }
MSL_FN msl_u3 msl_thread_position_in_grid() {
  return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
          blockIdx.z * blockDim.z + threadIdx.z};
}
MSL_FN msl_u3 msl_threads_per_grid() {
  return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
}
MSL_FN uint msl_thread_index_in_threadgroup() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
MSL_FN uint msl_simdgroup_index_in_threadgroup() { return msl_thread_index_in_threadgroup() / 32; }
MSL_FN uint msl_thread_index_in_simdgroup() { return msl_lane(); }
MSL_FN uint msl_simdgroups_per_threadgroup() { return (blockDim.x * blockDim.y * blockDim.z + 31) / 32; }
MSL_FN uint msl_threads_per_simdgroup() { return 32; }
template <typename P>
struct msl_builtin_as {
  static MSL_FN P of(const msl_u3& u) { return P(u.x); }
  static MSL_FN P of(uint u) { return P(u); }
};
template <typename T>
struct msl_builtin_as<vec<T, 2>> {
  static MSL_FN vec<T, 2> of(const msl_u3& u) { return vec<T, 2>(T(u.x), T(u.y)); }
};
template <typename T>
struct msl_builtin_as<vec<T, 3>> {
  static MSL_FN vec<T, 3> of(const msl_u3& u) { return vec<T, 3>(T(u.x), T(u.y), T(u.z)); }
};
template <typename P>
struct msl_builtin_as<const P> : msl_builtin_as<P> {};
template <typename P, typename U>
MSL_FN P msl_builtin(const U& u) {
  return msl_builtin_as<P>::of(u);
}

}  // namespace metal
)msl"},
    {"device/gpu/shim/cuda/simd.h",
R"msl(// Barriers and simd_* functions of the Metal Shading Language for CUDA. A simdgroup is a warp.
#pragma once

#include "device/gpu/shim/cuda/math.h"

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
MSL_FN mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
MSL_FN void threadgroup_barrier(mem_flags) { __syncthreads(); }
MSL_FN void simdgroup_barrier(mem_flags) { __syncwarp(); }

MSL_FN void msl_keep_loads_here() { __syncwarp(); }  // an empty asm does not stop ptxas from moving loads

// Programmatic dependent launch: without such an edge in the graph, both functions do nothing.
MSL_FN void msl_let_dependents_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
MSL_FN void msl_wait_for_inputs() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

MSL_FN uint msl_lane() {
  uint r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}

// One 32-bit shuffle per word of T.
template <typename T>
struct msl_words {
  static constexpr int count = (sizeof(T) + 3) / 4;
};
#define MSL_SHUFFLE(NAME, PARAM, CALL)                                            \
  template <typename T>                                                           \
  MSL_FN T NAME(T v, PARAM) {                                                     \
    uint w[msl_words<T>::count] = {};                                             \
    memcpy(w, &v, sizeof(T));                                                     \
    _Pragma("unroll") for (int msl_w = 0; msl_w < msl_words<T>::count; ++msl_w) { \
      const uint x = w[msl_w];                                                    \
      w[msl_w] = CALL;                                                            \
    }                                                                             \
    memcpy(&v, w, sizeof(T));                                                     \
    return v;                                                                     \
  }
MSL_SHUFFLE(simd_broadcast, ushort i, __shfl_sync(0xffffffffu, x, i))
MSL_SHUFFLE(simd_shuffle, ushort i, __shfl_sync(0xffffffffu, x, i))
MSL_SHUFFLE(simd_shuffle_xor, ushort m, __shfl_xor_sync(0xffffffffu, x, m))
MSL_SHUFFLE(simd_shuffle_up, ushort d, __shfl_up_sync(0xffffffffu, x, d))
MSL_SHUFFLE(simd_shuffle_down, ushort d, __shfl_down_sync(0xffffffffu, x, d))
MSL_SHUFFLE(simd_shuffle_rotate_up, ushort d, __shfl_sync(0xffffffffu, x, (msl_lane() - d) & 31))
MSL_SHUFFLE(simd_shuffle_rotate_down, ushort d, __shfl_sync(0xffffffffu, x, (msl_lane() + d) & 31))
#undef MSL_SHUFFLE

#define MSL_REDUCE(NAME, EXPR)                           \
  template <typename T>                                  \
  MSL_FN T NAME(T v) {                                   \
    _Pragma("unroll") for (int m = 16; m; m /= 2) {      \
      const T a = v, b = simd_shuffle_xor(v, ushort(m)); \
      v = EXPR;                                          \
    }                                                    \
    return v;                                            \
  }
MSL_REDUCE(simd_sum, a + b)
MSL_REDUCE(simd_product, a* b)
MSL_REDUCE(simd_max, b > a ? b : a)
MSL_REDUCE(simd_min, b < a ? b : a)
MSL_REDUCE(simd_or, a | b)
MSL_REDUCE(simd_and, a& b)
#undef MSL_REDUCE
MSL_FN bool simd_any(bool v) { return __any_sync(0xffffffffu, v); }
MSL_FN bool simd_all(bool v) { return __all_sync(0xffffffffu, v); }
template <typename T>
MSL_FN T simd_prefix_inclusive_sum(T v) {
  _Pragma("unroll") for (int d = 1; d < 32; d *= 2) {
    const T o = simd_shuffle_up(v, ushort(d));
    if (msl_lane() >= uint(d)) v = v + o;
  }
  return v;
}
template <typename T>
MSL_FN T simd_prefix_exclusive_sum(T v) {
  const T i = simd_shuffle_up(simd_prefix_inclusive_sum(v), ushort(1));
  return msl_lane() == 0 ? T(0) : i;
}

}  // namespace metal
)msl"},
    {"device/gpu/shim/cuda/types.h",
R"msl(// Types and keywords of the Metal Shading Language for CUDA, compiled by NVRTC or nvcc. Nothing of the CUDA toolkit is
// included: a machine may have NVRTC without headers.
#pragma once

#define MSL_FN __device__ __forceinline__
#define METAL_FUNC __device__ __forceinline__
#define MSL_KERNEL static __device__ __forceinline__
#define MSL_DEVICE
#define MSL_THREAD
#define MSL_THREADGROUP
#define MSL_CONSTANT const
#define MSL_CONSTANT_TABLE static __constant__ const
#define MSL_TG_VAR(SITE, NAME, DIMS, ...) __shared__ alignas(16) __VA_ARGS__ NAME DIMS;

// The host passes each constant of a pipeline as a macro, -DMSL_CONSTANT_<name>=<value>.
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) static constexpr T NAME = T(MSL_CONSTANT_##NAME);

#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#endif

namespace metal {

typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;

// Metal's half: converts to and from float implicitly; half op half stays half, half op float is float. Arithmetic goes
// through float, which rounds to the same half: 24 bits are enough for sums, products and quotients of 11-bit numbers.
struct half {
  ushort bits;
  half() = default;
  MSL_FN half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f)); }
  MSL_FN half(int i) : half(float(i)) {}
  MSL_FN half(uint i) : half(float(i)) {}
  MSL_FN operator float() const {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
    return f;
  }
};
#define MSL_HALF(OP) \
  MSL_FN half operator OP(half a, half b) { return half(float(a) OP float(b)); }
MSL_HALF(+)
MSL_HALF(-)
MSL_HALF(*)
MSL_HALF(/)
#undef MSL_HALF
MSL_FN half operator-(half a) { return half(-float(a)); }
#define MSL_MIXED(OP, T)                                                 \
  MSL_FN float operator OP(half a, T b) { return float(a) OP float(b); } \
  MSL_FN float operator OP(T a, half b) { return float(a) OP float(b); }
MSL_MIXED(+, float)
MSL_MIXED(-, float)
MSL_MIXED(*, float)
MSL_MIXED(/, float)
#undef MSL_MIXED
MSL_FN half& operator+=(half& a, half b) { return a = a + b; }
MSL_FN half& operator-=(half& a, half b) { return a = a - b; }
MSL_FN half& operator*=(half& a, half b) { return a = a * b; }
MSL_FN half& operator/=(half& a, half b) { return a = a / b; }
#define MSL_HCMP(OP) \
  MSL_FN bool operator OP(half a, half b) { return float(a) OP float(b); }
MSL_HCMP(<)
MSL_HCMP(>)
MSL_HCMP(<=)
MSL_HCMP(>=)
MSL_HCMP(==)
MSL_HCMP(!=)
#undef MSL_HCMP

struct bfloat {
  ushort bits;
  bfloat() = default;
  MSL_FN explicit bfloat(float f) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(f)); }
  MSL_FN explicit operator float() const { return __uint_as_float(uint(bits) << 16); }
};

template <typename T, typename U>
MSL_FN T as_type(U u) {
  static_assert(sizeof(T) == sizeof(U), "as_type keeps the size");
  T t;
  memcpy(&t, &u, sizeof(T));
  return t;
}

}  // namespace metal
)msl"},
    {"Shaders/args/argmax.h",
R"msl(#ifndef PAGODA_ARGS_ARGMAX_H
#define PAGODA_ARGS_ARGMAX_H
# 4 "Shaders/args/argmax.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct Argmax {
  long logits_stride;
  uint vocab;
  uint parts;
  uint part_size;
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/causal_conv1d.h",
R"msl(#ifndef PAGODA_ARGS_CAUSAL_CONV1D_H
#define PAGODA_ARGS_CAUSAL_CONV1D_H
# 4 "Shaders/args/causal_conv1d.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/embedding.h",
R"msl(#ifndef PAGODA_ARGS_EMBEDDING_H
#define PAGODA_ARGS_EMBEDDING_H
# 4 "Shaders/args/embedding.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct Embedding {
  long out_stride;
  uint cols;
  uint padded_cols;
};
static_assert(sizeof(Embedding) == 16, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/experts.h",
R"msl(#ifndef PAGODA_ARGS_EXPERTS_H
#define PAGODA_ARGS_EXPERTS_H
# 4 "Shaders/args/experts.h"
#include "Shaders/args/matmul.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;
  uint num_experts;
  uint chosen;
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");

struct ExpertTiles {
  long ids_stride;
  uint tokens;
  uint chosen;
  uint num_experts;
  uint tile_rows;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");

struct ExpertMatmul {
  long x_stride, out_stride;
  uint x_share;
  uint cols;
  uint padded_cols;
  uint out_cols;
  uint expert_rows;
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");

struct ExpertProducts {
  Matmul matmul;
  uint x_share;
  uint expert_rows;
};
static_assert(sizeof(ExpertProducts) == 104, "host and kernel agree");

struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;
  uint cols;
  uint chosen;
  uint has_shared;
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/gated_rms_norm.h",
R"msl(#ifndef PAGODA_ARGS_GATED_RMS_NORM_H
#define PAGODA_ARGS_GATED_RMS_NORM_H
# 4 "Shaders/args/gated_rms_norm.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct GatedRmsNorm {
  long x_stride, x_head_stride, z_stride, z_head_stride, out_stride, out_head_stride;
  uint dim;
  float eps;
};
static_assert(sizeof(GatedRmsNorm) == 56, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/gdn.h",
R"msl(#ifndef PAGODA_ARGS_GDN_H
#define PAGODA_ARGS_GDN_H
# 4 "Shaders/args/gdn.h"
#include "Shaders/args/causal_conv1d.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint is_wide;
  float q_scale;
  uint reserved;

  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/kda.h",
R"msl(#ifndef PAGODA_ARGS_KDA_H
#define PAGODA_ARGS_KDA_H
# 4 "Shaders/args/kda.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct Kda {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, a_head_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint dk, dv;
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Kda) == 136, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/latent_attention.h",
R"msl(#ifndef PAGODA_ARGS_LATENT_ATTENTION_H
#define PAGODA_ARGS_LATENT_ATTENTION_H
# 4 "Shaders/args/latent_attention.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long block_stride, slot_stride;
  long table_stride;
  uint num_sequences;
  uint heads;
  uint dim;
  uint value_dim;
  uint block_size;
  uint max_parts;
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");

struct CacheLatents {
  long x_stride;
  long block_stride, slot_stride;
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/matmul.h",
R"msl(#ifndef PAGODA_ARGS_MATMUL_H
#define PAGODA_ARGS_MATMUL_H
# 4 "Shaders/args/matmul.h"
#include "Shaders/args/row_source.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint is_wide;
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
#endif
)msl"},
    {"Shaders/args/paged_attention.h",
R"msl(#ifndef PAGODA_ARGS_PAGED_ATTENTION_H
#define PAGODA_ARGS_PAGED_ATTENTION_H
# 4 "Shaders/args/paged_attention.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct PagedAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long k_block_stride, k_slot_stride, k_head_stride;
  long v_block_stride, v_slot_stride, v_head_stride;
  long table_stride;
  uint num_sequences;
  uint heads, group;
  uint dim;
  uint block_size;
  uint max_parts;
  uint window;
  float scale;
  float softcap;
  uint is_split;
};
static_assert(sizeof(PagedAttention) == 128, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/qk_norm_rope.h",
R"msl(#ifndef PAGODA_ARGS_QK_NORM_ROPE_H
#define PAGODA_ARGS_QK_NORM_ROPE_H
# 4 "Shaders/args/qk_norm_rope.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct QkNormRope {
  long x_stride, x_head_stride, out_stride, out_head_stride;
  uint dim;
  uint half_rotary;
  float eps;
  float weight_offset;
  uint has_weight;
  uint reserved;
};
static_assert(sizeof(QkNormRope) == 56, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/reshape_and_cache.h",
R"msl(#ifndef PAGODA_ARGS_RESHAPE_AND_CACHE_H
#define PAGODA_ARGS_RESHAPE_AND_CACHE_H
# 4 "Shaders/args/reshape_and_cache.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_slot_stride, k_cache_head_stride;
  long v_block_stride, v_slot_stride, v_cache_head_stride;
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/rms_norm.h",
R"msl(#ifndef PAGODA_ARGS_RMS_NORM_H
#define PAGODA_ARGS_RMS_NORM_H
# 9 "Shaders/args/rms_norm.h"
namespace pagoda_args {

struct RmsNorm {
  uint32_t width;
  uint32_t x_stride;
  uint32_t residual_stride;
  uint32_t out_stride;
  float eps;
  float weight_offset;
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/rope_and_cache.h",
R"msl(#ifndef PAGODA_ARGS_ROPE_AND_CACHE_H
#define PAGODA_ARGS_ROPE_AND_CACHE_H
# 4 "Shaders/args/rope_and_cache.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct RopeAndCache {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_slot_stride, k_cache_head_stride;
  long v_block_stride, v_slot_stride, v_cache_head_stride;
  uint q_heads, kv_heads;
  uint dim;
  uint half_rotary;
  uint block_size;
  float eps;
  float weight_offset;
  uint has_weight;
};
static_assert(sizeof(RopeAndCache) == 128, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/row_source.h",
R"msl(#ifndef PAGODA_ARGS_ROW_SOURCE_H
#define PAGODA_ARGS_ROW_SOURCE_H
# 4 "Shaders/args/row_source.h"
#include "Shaders/args/types.h"

namespace pagoda_args {
# 10 "Shaders/args/row_source.h"
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
#endif
)msl"},
    {"Shaders/args/rows.h",
R"msl(#ifndef PAGODA_ARGS_ROWS_H
#define PAGODA_ARGS_ROWS_H
# 4 "Shaders/args/rows.h"
#include "Shaders/args/types.h"

namespace pagoda_args {

struct GatherRows {
  long x_stride, out_stride;
  uint cols, reserved;
};
static_assert(sizeof(GatherRows) == 24, "host and kernel agree");

struct SigmoidGate {
  long x_stride, x_head_stride, gate_stride, gate_head_stride, out_stride, out_head_stride;
  uint heads, dim;
};
static_assert(sizeof(SigmoidGate) == 56, "host and kernel agree");

struct GeluMul {
  long x_stride, out_stride;
  uint width, reserved;
};
static_assert(sizeof(GeluMul) == 24, "host and kernel agree");

struct ScaleRows {
  long x_stride;
  uint width;
  float factor;
};
static_assert(sizeof(ScaleRows) == 16, "host and kernel agree");


struct Slot {
  long slot_stride;
  long slot_units;
  long from, to;
};
static_assert(sizeof(Slot) == 32, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/sample.h",
R"msl(#ifndef PAGODA_ARGS_SAMPLE_H
#define PAGODA_ARGS_SAMPLE_H
# 4 "Shaders/args/sample.h"
#include "Shaders/args/types.h"

namespace pagoda_args {


struct SampleRow {
  ulong top_p;
  ulong min_weight;
  ulong random;
  float temperature;
  uint top_k;
};
static_assert(sizeof(SampleRow) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;
  uint vocab;
  uint parts;
};
static_assert(sizeof(Sample) == 16, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/token_attention.h",
R"msl(#ifndef PAGODA_ARGS_TOKEN_ATTENTION_H
#define PAGODA_ARGS_TOKEN_ATTENTION_H
# 4 "Shaders/args/token_attention.h"
#include "Shaders/args/paged_attention.h"
#include "Shaders/args/rope_and_cache.h"

namespace pagoda_args {

struct TokenAttention {
  PagedAttention attention;
  RopeAndCache rope;
};
static_assert(sizeof(TokenAttention) == 256, "host and kernel agree");

}
#endif
)msl"},
    {"Shaders/args/types.h",
R"msl(#ifndef PAGODA_ARGS_TYPES_H
#define PAGODA_ARGS_TYPES_H

#endif
)msl"},
    {"Shaders/attention_partition.h",
R"msl(#ifndef PAGODA_ATTENTION_PARTITION_H
#define PAGODA_ATTENTION_PARTITION_H
# 4 "Shaders/attention_partition.h"
#include "Shaders/paged_attention.h"
#include "Shaders/tiles.h"


template <typename T>
METAL_FUNC MSL_DEVICE const T* cache_rows(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, uint key, uint block_size,
                                      long block_stride, long slot_stride, long head_offset) {
  return cache + long(blocks[key / block_size]) * block_stride + long(key % block_size) * slot_stride + head_offset;
}


template <typename T, uint RT>
METAL_FUNC void score_keys(MSL_DEVICE const T* rows, MSL_THREADGROUP const T* q_tile, MSL_THREADGROUP float* s_tile, uint kt,
                           uint row_tiles, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  simdgroup_matrix<float, 8, 8> acc[RT];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
#pragma unroll 8
  for (uint d = 0; d < args.dim; d += 8) {
    simdgroup_matrix<T, 8, 8> k_mat;
    simdgroup_load(k_mat, rows + d, ulong(args.k_slot_stride), ulong2(0, 0), true);
#pragma unroll
    for (uint r = 0; r < RT; ++r) {

      if (r < row_tiles) {
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(q_mat, q_tile + r * 8 * kQueryStride + d, kQueryStride);
        simdgroup_multiply_accumulate(acc[r], q_mat, k_mat, acc[r]);
      }
    }
  }
#pragma unroll
  for (uint r = 0; r < RT; ++r) {

    if (r < row_tiles) {
      simdgroup_store(acc[r], s_tile + r * 8 * kScores + kt * 8, kScores);
    }
  }
}
# 48 "Shaders/attention_partition.h"
template <typename T>
METAL_FUNC void weigh_scores(MSL_THREADGROUP const float* row, MSL_THREADGROUP T* weights, int p0, uint num_keys, int position,
                             uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args, MSL_THREAD float& largest,
                             MSL_THREAD float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (at < num_keys && is_visible(p0 + int(at), position, args.window)) {
      float s = row[at] * args.scale;
      if (use_softcap) {
        s = args.softcap * precise::tanh(s / args.softcap);
      }
      score[i] = s;
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const bool seen = at < num_keys && is_visible(p0 + int(at), position, args.window);
    const T weight = T(seen ? precise::exp(score[i] - largest) : 0.0f);

    if (at < num_keys) {
      weights[at] = weight;
    }
    sum += float(weight);
  }
  sum = simd_sum(sum);
}


template <typename T>
METAL_FUNC void load_tail(MSL_DEVICE const T* rows, MSL_THREADGROUP T* v_tail, int num_left, uint tid,
                          MSL_CONSTANT pagoda_args::PagedAttention& args) {
  for (uint i = tid; i < 8 * args.dim; i += kThreads) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    T value = T(0.0f);
    if (int(r) < num_left) {
      value = rows[long(r) * args.v_slot_stride + d];
    }
    v_tail[r * kMaxDim + d] = value;
  }
}
# 101 "Shaders/attention_partition.h"
template <typename T, uint RT, uint COLS>
METAL_FUNC void add_values(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS],
                           MSL_THREAD simdgroup_matrix<T, 8, 8> (&w_mat)[RT], MSL_DEVICE const T* rows,
                           MSL_THREADGROUP const T* v_tail, bool is_tail, uint first_column, uint columns, uint row_tiles,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
      simdgroup_matrix<T, 8, 8> v_mat;
      if (is_tail) {
        simdgroup_load(v_mat, v_tail + (first_column + c) * 8, kMaxDim);
      } else {
        simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.v_slot_stride));
      }
#pragma unroll
      for (uint r = 0; r < RT; ++r) {

        if (r < row_tiles) {
          simdgroup_multiply_accumulate(acc[r][c], w_mat[r], v_mat, acc[r][c]);
        }
      }
    }
  }
}

template <uint RT, uint COLS>
METAL_FUNC void store_values(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS], MSL_THREADGROUP float* s_tile,
                             uint first_column, uint columns, uint row_tiles,
                             MSL_CONSTANT pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
#pragma unroll
      for (uint r = 0; r < RT; ++r) {

        if (r < row_tiles) {
          simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + (first_column + c) * 8, kScores);
        }
      }
    }
  }
}
# 149 "Shaders/attention_partition.h"
template <typename T>
METAL_FUNC uint4 wide_load(MSL_DEVICE const T* at, bool is_inside) {
  uint4 v = uint4(0, 0, 0, 0);
  if (is_inside) {
    v = *(MSL_DEVICE const uint4*)(at);
  }
  return v;
}

template <typename T>
METAL_FUNC bool is_wide(MSL_DEVICE const T* cache, long block_stride, long slot_stride, long head_stride) {
  return msl_is_wide(cache) && (block_stride | slot_stride | head_stride) % 8 == 0;
}


template <typename T, uint RT>
METAL_FUNC void score_keys_wide(MSL_DEVICE const T* k_cache, long at, MSL_THREADGROUP const T* q_tile,
                                MSL_THREADGROUP float* s_tile, uint key_tiles, uint row_tiles, uint sg, uint lane,
                                MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint CHUNKS = kMaxDim / kChunk;
  constexpr uint AHEAD = CHUNKS / RT;
  for (uint pair = sg; 2 * pair < key_tiles; pair += kSimdgroups) {
    MSL_DEVICE const T* rows[2];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      rows[t] = k_cache + simd_shuffle(at, ushort(min(2 * pair + t, key_tiles - 1))) +
                long(lane / 4) * args.k_slot_stride + lane % 4 * 16;
    }
    SumTile acc[RT][2];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      acc[r][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      acc[r][1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
#pragma unroll
    for (uint first = 0; first < CHUNKS; first += AHEAD) {
      uint k_words[AHEAD][2][kChunkTiles];
#pragma unroll
      for (uint c = 0; c < AHEAD; ++c) {
        const uint column = (first + c) * kChunk;
        const int left = int(args.dim) - int(column + lane % 4 * 16);
#pragma unroll
        for (uint t = 0; t < 2; ++t) {
          set_words(wide_load(rows[t] + column, left > 0), wide_load(rows[t] + column + 8, left > 8), k_words[c][t]);
        }
      }
#pragma unroll
      for (uint c = 0; c < AHEAD; ++c) {
        const uint column = (first + c) * kChunk + lane % 4 * 16;
        uint q_words[RT][kChunkTiles];
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          load_words((MSL_THREADGROUP const uint*)(q_tile + (min(r, row_tiles - 1) * 8 + lane / 4) * kQueryStride + column),
                     q_words[r]);
        }
        chunk_multiply<T, RT, 2>(acc, q_words, k_words[c], (MSL_THREADGROUP uint*)(s_tile), lane);
      }
    }
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
#pragma unroll
      for (uint t = 0; t < 2; ++t) {
        if (r < row_tiles && 2 * pair + t < key_tiles) {
          simdgroup_store(acc[r][t], s_tile + r * 8 * kScores + (2 * pair + t) * 8, kScores);
        }
      }
    }
  }
}


template <typename T, uint RT>
METAL_FUNC void add_values_wide(MSL_THREAD SumTile (&acc)[RT][8], MSL_DEVICE const T* v_cache, long at,
                                MSL_THREADGROUP const T* weights, uint ld, uint key_tiles, int num_keys, uint sg, uint lane,
                                MSL_CONSTANT pagoda_args::PagedAttention& args) {
  const uint column = sg * 64 + lane / 4 * 8;
#pragma unroll(4 / RT)
  for (uint s = 0; s < (key_tiles + 1) / 2; ++s) {
    uint4 v[4];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const uint in_tile = lane % 4 * 2 + i % 2;
      const uint key = s * 16 + i / 2 * 8 + in_tile;
      MSL_DEVICE const T* row = v_cache + simd_shuffle(at, ushort(2 * s + i / 2)) + long(in_tile) * args.v_slot_stride;
      v[i] = wide_load(row + column, int(key) < num_keys && column < args.dim);
    }
    uint w[RT][2];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      MSL_THREADGROUP const T* row = weights + (r * 8 + lane / 4) * ld + s * 16 + lane % 4 * 2;
      w[r][0] = *(MSL_THREADGROUP const uint*)(row);
      w[r][1] = 0;
      if (2 * s + 1 < key_tiles) {
        w[r][1] = *(MSL_THREADGROUP const uint*)(row + 8);
      }
    }
#pragma unroll
    for (uint j = 0; j < 8; ++j) {
      msl_multiply_rows<T, RT>(acc, j, w, v);
    }
  }
}

template <uint RT>
METAL_FUNC void store_values_wide(MSL_THREAD SumTile (&acc)[RT][8], MSL_THREADGROUP float* s_tile, uint row_tiles, uint sg,
                                  uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      const uint column = sg * 64 + (lane % 4 * 2 + i) * 8;
      if (r < row_tiles && column < args.dim) {
        MSL_THREADGROUP float* to = s_tile + (r * 8 + lane / 4) * kScores + column;
        *(MSL_THREADGROUP float4*)(to) =
            float4(acc[r][0].msl_at(i), acc[r][1].msl_at(i), acc[r][2].msl_at(i), acc[r][3].msl_at(i));
        *(MSL_THREADGROUP float4*)(to + 4) =
            float4(acc[r][4].msl_at(i), acc[r][5].msl_at(i), acc[r][6].msl_at(i), acc[r][7].msl_at(i));
      }
    }
  }
}
# 273 "Shaders/attention_partition.h"
struct PartTile {
  int p0;
  uint key_tiles;
  int context;
  int tail;
  bool has_tail;
  bool is_wide;
  uint kv_head;
  long block;
  long offset;
};

template <typename T>
METAL_FUNC PartTile keys_of(MSL_DEVICE const T* k_cache, MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            MSL_CONSTANT pagoda_args::PagedAttention& args) {
  PartTile keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.tail = context / 8 * 8;
  keys.has_tail = p0 + int(key_tiles) * 8 > context;
  keys.is_wide = false;
  keys.kv_head = kv_head;
  keys.block = 0;
  keys.offset = 0;

  keys.is_wide = sizeof(T) == 2 && is_wide(k_cache, args.k_block_stride, args.k_slot_stride, args.k_head_stride) &&
                 is_wide(v_cache, args.v_block_stride, args.v_slot_stride, args.v_head_stride);
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  keys.block = long(blocks[own / args.block_size]);
  keys.offset = long(own % args.block_size);

  return keys;
}


template <typename T, uint RT>
METAL_FUNC void score_partition(MSL_DEVICE const T* k_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP const T* q_tile,
                                MSL_THREADGROUP float* s_tile, PartTile keys, uint row_tiles, uint sg, uint lane,
                                MSL_CONSTANT pagoda_args::PagedAttention& args) {
  const long head_offset = long(keys.kv_head) * args.k_head_stride;

  if constexpr (sizeof(T) == 2) {
    if (keys.is_wide) {
      score_keys_wide<T, RT>(k_cache, keys.block * args.k_block_stride + keys.offset * args.k_slot_stride + head_offset,
                             q_tile, s_tile, keys.key_tiles, row_tiles, sg, lane, args);
    }
  }

  for (uint kt = keys.is_wide ? keys.key_tiles : sg; kt < keys.key_tiles; kt += kSimdgroups) {
    score_keys<T, RT>(cache_rows(k_cache, blocks, uint(keys.p0) + kt * 8, args.block_size, args.k_block_stride,
                                 args.k_slot_stride, head_offset),
                      q_tile, s_tile, kt, row_tiles, args);
  }
}
# 332 "Shaders/attention_partition.h"
)msl"
R"msl(template <typename T, uint RT>
METAL_FUNC void sum_partition(MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP float* s_tile,
                              MSL_THREADGROUP const T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
  const uint first_column = sg * columns;
  const long head_offset = long(keys.kv_head) * args.v_head_stride;
  simdgroup_matrix<float, 8, 8> acc[RT][COLS];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }

  if constexpr (sizeof(T) == 2) {
    if (keys.is_wide) {
      add_values_wide<T, RT>(
          acc, v_cache, keys.block * args.v_block_stride + keys.offset * args.v_slot_stride + head_offset,
          (MSL_THREADGROUP const T*)(s_tile), LDW, keys.key_tiles, keys.context - keys.p0, sg, lane, args);
    }
  }

#pragma unroll 4
  for (uint kt = keys.is_wide ? keys.key_tiles : 0; kt < keys.key_tiles; ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    MSL_DEVICE const T* rows =
        cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride, args.v_slot_stride, head_offset);
    simdgroup_matrix<T, 8, 8> weights[RT];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {

      if (r < row_tiles) {
        simdgroup_load(weights[r], (MSL_THREADGROUP T*)(s_tile) + r * 8 * LDW + kt * 8, LDW);
      }
    }
    add_values<T, RT, COLS>(acc, weights, rows, v_tail, int(key) == keys.tail, first_column, columns, row_tiles, args);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (keys.is_wide) {
    store_values_wide<RT>(acc, s_tile, row_tiles, sg, lane, args);
    return;
  }

  store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
}
#endif
)msl"},
    {"Shaders/attention_tile.h",
R"msl(#ifndef PAGODA_ATTENTION_TILE_H
#define PAGODA_ATTENTION_TILE_H
# 4 "Shaders/attention_tile.h"
#include "Shaders/attention_partition.h"


struct RowTile {
  uint seq;
  int begin;
  int tokens;
  int context;
  int row0;
  int num_rows;
  uint first_part;
  uint last_part;
  bool is_split;
};

METAL_FUNC int position_of(RowTile tile, int row, uint group) {
  return tile.context - tile.tokens + (tile.row0 + row) / int(group);
}


template <uint ROWS>
METAL_FUNC RowTile tile_at(MSL_DEVICE const int* cu_seqlens, MSL_DEVICE const int* context_lens, uint3 tg,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
  RowTile tile;
  tile.seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.group, ROWS);
  tile.begin = cu_seqlens[tile.seq];
  tile.tokens = cu_seqlens[tile.seq + 1] - tile.begin;
  tile.context = context_lens[tile.seq];
  tile.row0 = int((tg.x - first_tile(cu_seqlens, tile.seq, args.group, ROWS)) * ROWS);
  tile.num_rows = min(int(ROWS), tile.tokens * int(args.group) - tile.row0);
  tile.is_split = tile.tokens == 1 && args.is_split != 0;
  if (tile.num_rows <= 0 || (!tile.is_split && tg.z > 0)) {
    tile.num_rows = 0;
    return tile;
  }
  tile.first_part = first_part(position_of(tile, 0, args.group), args.window);
  tile.last_part = uint(position_of(tile, tile.num_rows - 1, args.group)) / kPartition;
  if (tile.is_split) {
    if (tg.z < tile.first_part || tg.z > tile.last_part) {
      tile.num_rows = 0;
    }
    tile.first_part = tg.z;
    tile.last_part = tg.z;
  }
  return tile;
}
# 53 "Shaders/attention_tile.h"
template <typename T, uint ROWS>
METAL_FUNC void load_queries(MSL_DEVICE const float* q, MSL_THREADGROUP T* q_tile, RowTile tile, uint kv_head, uint tid,
                             MSL_CONSTANT pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < kMaxDim / kThreads; ++i) {
    const uint d = tid + kThreads * i;
    float v[ROWS];
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      const int flat = tile.row0 + min(int(r), tile.num_rows - 1);
      const long head = long(kv_head) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(tile.begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * kQueryStride + d] = T(v[r]);
    }
  }
}


template <typename T>
METAL_FUNC void weigh_rows(MSL_THREADGROUP float* s_tile, MSL_THREADGROUP float* stats, RowTile tile, int p0, uint num_keys,
                           uint sg, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  for (uint r = sg; r < uint(tile.num_rows); r += kSimdgroups) {
    float largest = 0.0f;
    float sum = 0.0f;
    weigh_scores((MSL_THREADGROUP const float*)(s_tile + r * kScores), (MSL_THREADGROUP T*)(s_tile) + r * LDW, p0, num_keys,
                 position_of(tile, int(r), args.group), lane, args, largest, sum);
    if (lane == 0) {
      stats[r * kStats + kPartMax] = largest;
      stats[r * kStats + kPartSum] = sum;
    }
  }
}


METAL_FUNC void merge_stats(MSL_THREADGROUP float* row) {
  const float largest = max(row[kRowMax], row[kPartMax]);
  const float total_factor = precise::exp(row[kRowMax] - largest);
  const float part_factor = precise::exp(row[kPartMax] - largest);
  row[kRowSum] = merged(row[kRowSum], total_factor, row[kPartSum], part_factor);
  row[kRowMax] = largest;
  row[kTotalFactor] = total_factor;
  row[kPartFactor] = part_factor;
}


template <uint EACH>
METAL_FUNC void merge_values(MSL_THREAD float (&total)[EACH], MSL_THREADGROUP const float* s_tile,
                             MSL_THREADGROUP const float* stats, RowTile tile, uint tid,
                             MSL_CONSTANT pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      total[i] =
          merged(total[i], stats[r * kStats + kTotalFactor], s_tile[r * kScores + d], stats[r * kStats + kPartFactor]);
    }
  }
}


template <uint RT, uint EACH>
METAL_FUNC void begin_rows(MSL_THREADGROUP float* stats, MSL_THREAD float (&total)[EACH], uint tid) {
  if (tid < 8 * RT) {
    stats[tid * kStats + kRowMax] = kNegBig;
    stats[tid * kStats + kRowSum] = 0.0f;
  }
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}


template <typename T, uint RT, uint EACH>
METAL_FUNC void add_partition(MSL_DEVICE const T* k_cache, MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks,
                              MSL_THREADGROUP const T* q_tile, MSL_THREADGROUP float* s_tile, MSL_THREADGROUP T* v_tail,
                              MSL_THREADGROUP float* stats, MSL_THREAD float (&total)[EACH], RowTile tile, uint part,
                              uint kv_head, uint tid, uint sg, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  const uint row_tiles = (uint(tile.num_rows) + 7) / 8;
  const int last_position = position_of(tile, tile.num_rows - 1, args.group);
  const int p0 = int(part * kPartition);
  const uint key_tiles = (uint(min(int(kPartition), last_position + 1 - p0)) + 7) / 8;
  const PartTile keys = keys_of(k_cache, v_cache, blocks, p0, key_tiles, tile.context, kv_head, lane, args);

  score_partition<T, RT>(k_cache, blocks, q_tile, s_tile, keys, row_tiles, sg, lane, args);
  if (keys.has_tail && !keys.is_wide) {
    load_tail(cache_rows(v_cache, blocks, uint(keys.tail), args.block_size, args.v_block_stride, args.v_slot_stride,
                         long(kv_head) * args.v_head_stride),
              v_tail, tile.context - keys.tail, tid, args);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  weigh_rows<T>(s_tile, stats, tile, p0, key_tiles * 8, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (int(tid) < tile.num_rows) {
    merge_stats(stats + tid * kStats);
  }
  sum_partition<T, RT>(v_cache, blocks, s_tile, (MSL_THREADGROUP const T*)(v_tail), keys, row_tiles, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  merge_values<EACH>(total, (MSL_THREADGROUP const float*)(s_tile), (MSL_THREADGROUP const float*)(stats), tile, tid, args);
}


template <uint EACH>
METAL_FUNC void store_rows(MSL_THREAD const float (&total)[EACH], MSL_THREADGROUP const float* stats, MSL_DEVICE const float* sinks,
                           MSL_DEVICE float* partials, MSL_DEVICE float* out, RowTile tile, uint kv_head, uint part, uint tid,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      const long token = tile.begin + (tile.row0 + int(r)) / int(args.group);
      const long head = long(kv_head) * args.group + (tile.row0 + int(r)) % int(args.group);
      const float largest = stats[r * kStats + kRowMax];
      const float sum = stats[r * kStats + kRowSum];
      if (tile.is_split) {
        MSL_DEVICE float* to =
            partials + ((long(tile.seq) * args.heads + head) * args.max_parts + long(part)) * (args.dim + 2);
        to[d] = total[i];
        if (d == 0) {
          to[args.dim] = largest;
          to[args.dim + 1] = sum;
        }
      } else {
        const float sink = use_sinks ? sinks[head] : 0.0f;
        out[token * args.out_stride + head * args.out_head_stride + d] = total[i] * scale_to_end(largest, sum, sink);
      }
    }
  }
}
#endif
)msl"},
    {"Shaders/candidates.h",
R"msl(#ifndef PAGODA_CANDIDATES_H
#define PAGODA_CANDIDATES_H
# 4 "Shaders/candidates.h"
#include "Shaders/common.h"
#include "Shaders/keys.h"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kSimdgroups = kThreads / 32;
MSL_CONSTANT constexpr uint kEach = 16;
MSL_CONSTANT constexpr uint kMostKept = 64;
MSL_CONSTANT constexpr uint kRefused = 0xffffffffu;
# 15 "Shaders/candidates.h"
METAL_FUNC ulong candidate_of(float logit, uint id) {
  uint key = key_of(logit);
  key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
  return key == kMinusInfinityKey ? 0ul : ulong(key) << 32 | ulong(0xffffffffu - id);
}

METAL_FUNC uint key_in(ulong candidate) { return uint(candidate >> 32); }
METAL_FUNC uint id_in(ulong candidate) { return 0xffffffffu - uint(candidate); }
# 26 "Shaders/candidates.h"
METAL_FUNC ulong bound_of(MSL_THREAD const ulong (&mine)[kEach], uint wanted, MSL_THREADGROUP uint* counts, uint lane,
                          uint sg) {
  ulong bound = 0;
  for (uint bit = 64; bit > 0; --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;
#pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      count += mine[i] >= tried ? 1u : 0u;
    }
    count = simd_sum(count);
    MSL_THREADGROUP uint* round = counts + bit % 2 * kSimdgroups;
    if (lane == 0) {
      round[sg] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint all = 0;
    for (uint i = 0; i < kSimdgroups; ++i) {
      all += round[i];
    }
    bound = all >= wanted ? tried : bound;
    if (all == wanted) {
      break;
    }
  }
  return bound;
}
# 56 "Shaders/candidates.h"
template <typename To>
METAL_FUNC void keep_highest(MSL_THREAD const ulong (&mine)[kEach], uint wanted, To kept, MSL_THREADGROUP uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  uint count = 0;
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint next = simd_prefix_exclusive_sum(count);
  MSL_THREADGROUP uint* totals = counts + 2 * kSimdgroups;
  if (lane == 31) {
    totals[sg] = next + count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint i = 0; i < kSimdgroups; ++i) {
    next += i < sg ? totals[i] : 0u;
    all += totals[i];
  }
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    if (mine[i] != 0 && mine[i] >= bound) {
      kept[next] = mine[i];
      ++next;
    }
  }
  if (tid >= all && tid < wanted) {
    kept[tid] = 0;
  }
}
#endif
)msl"},
    {"Shaders/common.h",
R"msl(#ifndef PAGODA_COMMON_H
#define PAGODA_COMMON_H
# 12 "Shaders/common.h"
MSL_CONSTANT constexpr float kNegBig = -1.0e30f;
# 16 "Shaders/common.h"
METAL_FUNC void wait_for_inputs() {

  msl_wait_for_inputs();

}

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
# 43 "Shaders/common.h"
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


METAL_FUNC float shifted_byte(uint byte, uint shift) {
  return (byte < 128 ? float(byte) : -float(byte - 128)) * as_type<float>((127u - shift) << 23);
}

METAL_FUNC float stepped_nibble(uint nibble, uint step, uint offset) {
  return float(int(step * nibble + offset) - 128);
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
# 99 "Shaders/common.h"
  }
}
#endif
)msl"},
    {"Shaders/conv.h",
R"msl(#ifndef PAGODA_CONV_H
#define PAGODA_CONV_H
# 4 "Shaders/conv.h"
#include "Shaders/args/causal_conv1d.h"
#include "Shaders/common.h"

MSL_CONSTANT constexpr uint kUsualTaps = 4;


METAL_FUNC long tail_offset(MSL_CONSTANT pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}
# 16 "Shaders/conv.h"
METAL_FUNC float conv_row(MSL_DEVICE const float* x, MSL_DEVICE const float* tail, MSL_DEVICE const float* weight,
                          MSL_CONSTANT pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  if (args.kernel_size == kUsualTaps) {
    float inputs[kUsualTaps];
    float weights[kUsualTaps];
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      const int at = row + int(i) + 1 - int(kUsualTaps);
      inputs[i] = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
      weights[i] = weight[long(i) * args.weight_stride];
    }
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[i], weights[i], sum);
    }
    return silu(sum);
  }
  for (uint i = 0; i < args.kernel_size; ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}
# 44 "Shaders/conv.h"
template <uint ROWS>
METAL_FUNC void conv_rows(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_CONSTANT pagoda_args::CausalConv1d& args,
                          int row, MSL_DEVICE float* out) {
  constexpr uint PAST = kUsualTaps - 1;
  float inputs[ROWS + PAST];
  float weights[kUsualTaps];
#pragma unroll
  for (uint i = 0; i < ROWS + PAST; ++i) {
    inputs[i] = x[long(row + int(i) - int(PAST)) * args.x_stride];
  }
#pragma unroll
  for (uint i = 0; i < kUsualTaps; ++i) {
    weights[i] = weight[long(i) * args.weight_stride];
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    float sum = 0.0f;
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[r + i], weights[i], sum);
    }
    out[long(r) * args.out_stride] = silu(sum);
  }
}
#endif
)msl"},
    {"Shaders/expert_rows.h",
R"msl(#ifndef PAGODA_EXPERT_ROWS_H
#define PAGODA_EXPERT_ROWS_H
# 4 "Shaders/expert_rows.h"
#include "Shaders/args/experts.h"
#include "Shaders/matmul.h"


struct ExpertTile {
  uint weight_row;
  uint first;
  uint count;
};

METAL_FUNC ExpertTile expert_tile(MSL_DEVICE const uint* tiles, uint index, uint expert_rows) {
  ExpertTile tile;
  tile.weight_row = tiles[index * 4] * expert_rows;
  tile.first = tiles[index * 4 + 1];
  tile.count = tiles[index * 4 + 2];
  return tile;
}


METAL_FUNC ulong expert_weight_at(MSL_CONSTANT pagoda_args::ExpertProducts& args, MSL_THREAD const ExpertTile& tile, uint group,
                                  uint r, uint rows, uint lane) {
  return ulong(tile.weight_row + weight_row(args.matmul, group, r, rows)) * args.matmul.padded_cols + lane % 4 * 16;
}


METAL_FUNC ulong expert_x_at(MSL_CONSTANT pagoda_args::ExpertProducts& args, MSL_DEVICE const uint* order,
                             MSL_THREAD const ExpertTile& tile, uint m, uint lane) {
  const uint slot = order[tile.first + (m < tile.count ? m : 0)];
  return ulong(slot / args.x_share) * ulong(args.matmul.x_stride) + lane % 4 * 16;
}


METAL_FUNC void write_expert_out(MSL_CONSTANT pagoda_args::ExpertProducts& args, MSL_DEVICE const float* w_scales,
                                 MSL_DEVICE float* out, uint weight_row, uint slot, uint column, float sum, float other,
                                 bool is_scaled) {
  float value = finish(sum, 1.0f, is_scaled ? w_scales[weight_row + column] : 1.0f, 0.0f);
  if (args.matmul.silu_mul != 0) {
    const uint at = weight_row + args.matmul.out_cols + column;
    value = silu(value) * finish(other, 1.0f, is_scaled ? w_scales[at] : 1.0f, 0.0f);
  }
  out[long(slot) * args.matmul.out_stride + column] = value;
}
#endif
)msl"},
    {"Shaders/gdn.h",
R"msl(#ifndef PAGODA_GDN_H
#define PAGODA_GDN_H
# 19 "Shaders/gdn.h"
#include "Shaders/args/gdn.h"
#include "Shaders/common.h"

MSL_CONSTANT constexpr uint kBlock = 16;
MSL_CONSTANT constexpr uint kPanel = 32;
MSL_CONSTANT constexpr uint kSplit = 8;
MSL_CONSTANT constexpr uint kGroups = 4;
MSL_CONSTANT constexpr float kNormEps = 1.0e-6f;


METAL_FUNC void keep_loads_here() {

  msl_keep_loads_here();

}

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }


METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}
# 44 "Shaders/gdn.h"
template <uint N, uint P>
METAL_FUNC float fold(MSL_THREAD float (&x)[N], uint lane) {
  uint n = N;
#pragma unroll
  for (uint m = P / 2; m > 0; m /= 2) {
    if (n > 1) {
      n /= 2;
      const uint high = 0u - (lane / m & 1u);
#pragma unroll
      for (uint i = 0; i < N / 2; ++i) {

        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(m));
        }
      }
    } else {
      x[0] = x[0] + simd_shuffle_xor(x[0], ushort(m));
    }
  }
  return x[0];
}


template <uint N>
METAL_FUNC void load_row(MSL_DEVICE const float* from, uint dk, uint lane, MSL_THREAD float (&x)[N]) {
  load_ahead<N>(from, lane, 32, dk, x);
}

template <uint N>
METAL_FUNC float lane_dot(MSL_THREAD const float (&x)[N], MSL_THREAD const float (&y)[N]) {
  float sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < N; ++i) {
    sum = fma(x[i], y[i], sum);
  }
  return sum;
}


template <uint N>
METAL_FUNC float inverse_norm(MSL_THREAD const float (&x)[N], uint lane) {
  float sum[1];
  sum[0] = lane_dot<N>(x, x);
  return precise::rsqrt(fold<1, 32>(sum, lane) + kNormEps);
}


METAL_FUNC float next_g(float before, float rate, float x) { return fma(-rate, x, before); }


METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }


METAL_FUNC float begin_row(uint kind, float decay, float y, float v) {
  return kind == 0 ? fma(-decay, y, v) : decay * y;
}


METAL_FUNC uint dim_of(uint part, uint i) { return 4 * (part + kSplit * (i / 4)) + i % 4; }


template <uint PER>
METAL_FUNC void load_part(MSL_THREADGROUP const float* row, uint part, MSL_THREAD float (&x)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; i += 4) {
    const float4 f = *(MSL_THREADGROUP const float4*)(row + dim_of(part, i));
    x[i] = f.x;
    x[i + 1] = f.y;
    x[i + 2] = f.z;
    x[i + 3] = f.w;
  }
}


template <uint NC, uint PER>
METAL_FUNC float state_times(MSL_THREAD const float (&s)[NC][PER], MSL_THREAD const float (&k)[PER],
                             MSL_THREAD const float (&q)[PER], uint lane) {
  float x[2 * NC];
#pragma unroll
  for (uint c = 0; c < NC; ++c) {
    x[c] = s[c][0] * k[0];
    x[NC + c] = s[c][0] * q[0];
  }
#pragma unroll
  for (uint i = 1; i < PER; ++i) {
#pragma unroll
    for (uint c = 0; c < NC; ++c) {
      x[c] = fma(s[c][i], k[i], x[c]);
      x[NC + c] = fma(s[c][i], q[i], x[NC + c]);
    }
  }
  return fold<2 * NC, kSplit>(x, lane);
}


template <uint PER>
METAL_FUNC void scale_state(MSL_THREAD float (&s)[PER], float decay) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}

template <uint PER>
METAL_FUNC void add_row(MSL_THREAD float (&s)[PER], MSL_THREAD const float (&k)[PER], float weighted_u) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = fma(k[i], weighted_u, s[i]);
  }
}


template <uint PER>
METAL_FUNC void load_state(MSL_DEVICE const float* at, uint width, uint dk, uint part, MSL_THREAD float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = at[d * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(MSL_DEVICE float* at, uint width, uint dk, uint part, MSL_THREAD const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = s[i];
    }
  }
}


METAL_FUNC uint first_block(MSL_DEVICE const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }
# 188 "Shaders/gdn.h"
MSL_CONSTANT constexpr uint kBetas = kBlock;
MSL_CONSTANT constexpr uint kWeights = 2 * kBlock;
MSL_CONSTANT constexpr uint kDecays = 3 * kBlock;
MSL_CONSTANT constexpr uint kCoefficients = 4 * kBlock;
MSL_CONSTANT constexpr uint kGateFloats = 640;
#endif
)msl"},
    {"Shaders/keys.h",
R"msl(#ifndef PAGODA_KEYS_H
#define PAGODA_KEYS_H
# 6 "Shaders/keys.h"
METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
#endif
)msl"},
    {"Shaders/matmul.h",
R"msl(#ifndef PAGODA_MATMUL_H
#define PAGODA_MATMUL_H
# 22 "Shaders/matmul.h"
#include "Shaders/args/matmul.h"
#include "Shaders/tiles.h"

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
  uint shift;
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
  to.shift = uint(((MSL_DEVICE const uchar*)(steps))[at / 32]);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<4>& to) {
  to.a = *(MSL_DEVICE const uint2*)(w + at / 8);
  to.steps = uint(steps[at / 32]);
}

METAL_FUNC void share_words(MSL_THREAD const Share<16>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}
# 69 "Shaders/matmul.h"
METAL_FUNC uint pair_of_bytes(uint bytes, uint signs, uint unit) {
  return fma_bfloats(unit, 0xbf80bf80u, (bytes & 0x007f007fu) | unit) ^ (signs & 0x80008000u);
}

METAL_FUNC uint2 words_of_bytes(uint word, uint unit) {
  return uint2(pair_of_bytes(word, word << 8, unit), pair_of_bytes(word >> 8, word, unit));
}

METAL_FUNC void share_words(MSL_THREAD const Share<8>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(share.a.x, unit);
  const uint2 b = words_of_bytes(share.a.y, unit);
  const uint2 c = words_of_bytes(share.a.z, unit);
  const uint2 d = words_of_bytes(share.a.w, unit);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}
# 88 "Shaders/matmul.h"
METAL_FUNC uint pair_of_nibbles(uint nibbles, uint step, uint offset) {
  const uint numbers = fma_bfloats(0x3f803f80u, 0xc180c180u, (nibbles & 0x00780078u) | 0x41804180u);
  return fma_bfloats(numbers, step, offset);
}

METAL_FUNC void share_words(MSL_THREAD const Share<4>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
  const float step = float(share.steps & 0xffu);
  const float offset = float(share.steps >> 8) - 128.0f;
  const uint steps = pack_exact(step, step);
  const uint offsets = pack_exact(offset, offset);
  words[0] = pair_of_nibbles(share.a.x << 3, steps, offsets);
  words[4] = pair_of_nibbles(share.a.y << 3, steps, offsets);
#pragma unroll
  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_nibbles(share.a.x >> (4 * j - 3), steps, offsets);
    words[4 + j] = pair_of_nibbles(share.a.y >> (4 * j - 3), steps, offsets);
  }
}
# 109 "Shaders/matmul.h"
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
# 151 "Shaders/matmul.h"
METAL_FUNC uint weight_row(MSL_CONSTANT pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    const uint column = tile * (rows / 2) + r % (rows / 2);
    return (column < args.out_cols ? column : args.out_cols - 1) + r / (rows / 2) * args.out_cols;
  }
  const uint column = tile * rows + r;
  return column < args.out_cols ? column : args.out_cols - 1;
}


struct ColumnTerms {
  float scale;
  float bias;
  float other_scale;
  float other_bias;
};

METAL_FUNC ColumnTerms column_terms(MSL_CONSTANT pagoda_args::Matmul& args, MSL_DEVICE const float* w_scales,
                                    MSL_DEVICE const float* bias, uint column, bool is_scaled) {
  const uint own = min(column, args.out_cols - 1);
  const uint other = args.silu_mul != 0 ? args.out_cols + own : own;
  ColumnTerms terms;
  terms.scale = is_scaled ? w_scales[own] : 1.0f;
  terms.bias = args.has_bias != 0 ? bias[own] : 0.0f;
  terms.other_scale = is_scaled ? w_scales[other] : 1.0f;
  terms.other_bias = args.has_bias != 0 ? bias[other] : 0.0f;
  return terms;
}


METAL_FUNC float row_scale(MSL_DEVICE const float* x_scales, uint m, half) { return x_scales[m]; }
METAL_FUNC float row_scale(MSL_DEVICE const float* x_scales, uint m, bfloat) { return 1.0f; }


METAL_FUNC void write_out(MSL_CONSTANT pagoda_args::Matmul& args, MSL_THREAD const ColumnTerms& terms, float x_scale,
                          MSL_DEVICE float* out, uint m, uint column, float sum, float other) {
  float value = finish(sum, x_scale, terms.scale, terms.bias);
  if (args.silu_mul != 0) {
    value = silu(value) * finish(other, x_scale, terms.other_scale, terms.other_bias);
  }
  store_out(args, out, m, column, value);
}
#endif
)msl"},
    {"Shaders/matmul_tile.h",
R"msl(#ifndef PAGODA_MATMUL_TILE_H
#define PAGODA_MATMUL_TILE_H
# 7 "Shaders/matmul_tile.h"
#include "Shaders/matmul.h"


MSL_CONSTANT constexpr uint kStageScratch = 0;
# 17 "Shaders/matmul_tile.h"
METAL_FUNC uint staged_row(uint tid, uint i) { return 64 * (i / 2) + 16 * (tid / 32) + 8 * (i % 2) + tid % 32 / 4; }
# 22 "Shaders/matmul_tile.h"
template <uint LD>
METAL_FUNC void store_pair(MSL_THREAD const uint (&low)[kChunkTiles], MSL_THREAD const uint (&high)[kChunkTiles],
                           MSL_THREADGROUP uint* tile, uint pair, uint tid) {

  MSL_THREADGROUP uint* to = tile + (4 * pair + tid / 32) * (16 * kChunk / 2) + tid % 32 * 4;
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
    *(MSL_THREADGROUP uint4*)(to + 64 * j) = uint4(low[j], high[j], low[j + 1], high[j + 1]);
  }
# 35 "Shaders/matmul_tile.h"
}


template <uint LD>
METAL_FUNC void load_pair(MSL_THREADGROUP const uint* tile, uint row, uint lane, MSL_THREAD uint (&words)[2][kChunkTiles]) {

  MSL_THREADGROUP const uint* from = tile + row * (kChunk / 2) + lane * 4;
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
    const uint4 four = *(MSL_THREADGROUP const uint4*)(from + 64 * j);
    words[0][j] = four.x;
    words[1][j] = four.y;
    words[0][j + 1] = four.z;
    words[1][j + 1] = four.w;
  }
# 56 "Shaders/matmul_tile.h"
}
# 61 "Shaders/matmul_tile.h"
template <typename T, uint BITS, uint WT, uint MT, uint LD>
METAL_FUNC void multiply_tile(MSL_THREAD SumTile (&total)[WT][MT], MSL_DEVICE const T* x, MSL_DEVICE const uint* w,
                              MSL_DEVICE const ushort* w_steps, MSL_THREAD const ulong (&x_at)[MT / 2],
                              MSL_THREAD const ulong (&w_at)[WT / 2], MSL_THREAD Share<BITS> (&w_next)[WT / 2],
                              uint padded_cols, uint run, MSL_THREADGROUP uint* shared_words, uint tid, uint sg,
                              uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  MSL_THREADGROUP uint* w_tile = shared_words;
  MSL_THREADGROUP uint* x_tile = shared_words + 16 * WT * LD;
  MSL_THREADGROUP uint* scratch = shared_words + (16 * WT + 16 * MT) * LD + sg * (kStageScratch / 4);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
  SumTile acc[WT][MT];
#pragma unroll
  for (uint i = 0; i < WT; ++i) {
#pragma unroll
    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint x_next[X_SHARES][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < X_SHARES; ++i) {
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; k0 < padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint i = 0; i < W_SHARES; i += 2) {
      uint words[2][kChunkTiles];
      share_words(w_next[i], words[0]);
      share_words(w_next[i + 1], words[1]);
      store_pair<LD>(words[0], words[1], w_tile, i / 2, tid);
    }
#pragma unroll
    for (uint i = 0; i < X_SHARES; ++i) {
      store_words(x_next[i], x_tile + (tid / 4 + 32 * i) * LD + tid % 4 * 8);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < padded_cols) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
      }
#pragma unroll
      for (uint i = 0; i < X_SHARES; ++i) {
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[MT][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < MT; ++i) {
      load_words((MSL_THREADGROUP const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
      load_pair<LD>((MSL_THREADGROUP const uint*)(w_tile), sg_n + 8 * i, lane, w_words);
      pair_multiply<T, WT, MT>(acc, i, w_words, x_words, scratch, lane);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


template <uint WT, uint MT>
METAL_FUNC void store_half(MSL_THREAD SumTile (&total)[WT][MT], MSL_THREADGROUP float* sums, uint first, uint sg) {
  if ((sg % 2) * (8 * MT) == first) {
#pragma unroll
    for (uint i = 0; i < WT; ++i) {
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        simdgroup_store(total[i][t], sums + 8 * t * 16 * WT + (sg / 2) * (8 * WT) + 8 * i, 16 * WT, ulong2(0, 0), true);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
#endif
)msl"},
    {"Shaders/norms.h",
R"msl(#ifndef PAGODA_NORMS_H
#define PAGODA_NORMS_H
# 4 "Shaders/norms.h"
#include "Shaders/common.h"

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
  for (uint first = lane; first < dim; first += kAhead * 32) {
    float v[kAhead];
    load_ahead<kAhead>(head, first, 32, dim, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      squares = fma(v[j], v[j], squares);
    }
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
#endif
)msl"},
    {"Shaders/paged_attention.h",
R"msl(#ifndef PAGODA_PAGED_ATTENTION_H
#define PAGODA_PAGED_ATTENTION_H
# 14 "Shaders/paged_attention.h"
#include "Shaders/args/paged_attention.h"
#include "Shaders/common.h"

MSL_FUNCTION_CONSTANT(bool, use_window, 0)
MSL_FUNCTION_CONSTANT(bool, use_softcap, 1)
MSL_FUNCTION_CONSTANT(bool, use_sinks, 2)

MSL_CONSTANT constexpr uint kPartition = 256;
MSL_CONSTANT constexpr uint kMaxDim = 256;
MSL_CONSTANT constexpr uint kThreads = 128;
MSL_CONSTANT constexpr uint kSimdgroups = 4;
MSL_CONSTANT constexpr uint kQueryStride = kMaxDim + 8;
MSL_CONSTANT constexpr uint kScores = kPartition + 4;
# 30 "Shaders/paged_attention.h"
MSL_CONSTANT constexpr uint kPartMax = 0;
MSL_CONSTANT constexpr uint kPartSum = 1;
MSL_CONSTANT constexpr uint kRowMax = 2;
MSL_CONSTANT constexpr uint kRowSum = 3;
MSL_CONSTANT constexpr uint kTotalFactor = 4;
MSL_CONSTANT constexpr uint kPartFactor = 5;
MSL_CONSTANT constexpr uint kStats = 6;


METAL_FUNC uint first_tile(MSL_DEVICE const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}


METAL_FUNC uint first_part(int position, uint window) {
  const int begin = use_window ? max(0, position - int(window) + 1) : 0;
  return uint(begin) / kPartition;
}

METAL_FUNC bool is_visible(int key, int position, uint window) {
  return key <= position && (!use_window || key > position - int(window));
}


METAL_FUNC float merged(float total, float total_factor, float part, float part_factor) {
  return fma(total, total_factor, part * part_factor);
}


METAL_FUNC float scale_to_end(float largest, float sum, float sink) {
  if (!use_sinks) {
    return 1.0f / sum;
  }
  const float end = max(sink, largest);
  const float factor = precise::exp(largest - end);
  return factor / fma(sum, factor, precise::exp(sink - end));
}
#endif
)msl"},
    {"Shaders/rope.h",
R"msl(#ifndef PAGODA_ROPE_H
#define PAGODA_ROPE_H
# 4 "Shaders/rope.h"
#include "Shaders/common.h"
# 8 "Shaders/rope.h"
METAL_FUNC void norm_and_rotate(MSL_DEVICE const float* from, MSL_DEVICE const float* weight, MSL_DEVICE const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, MSL_THREADGROUP float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; i < dim; i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; i < half_rotary; i += 32) {
    const float angle = float(position) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + half_rotary];
    head[i] = a * c - b * s;
    head[i + half_rotary] = b * c + a * s;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
#endif
)msl"},
    {"Shaders/row_source.h",
R"msl(#ifndef PAGODA_ROW_SOURCE_H
#define PAGODA_ROW_SOURCE_H
# 5 "Shaders/row_source.h"
#include "Shaders/args/row_source.h"
#include "Shaders/norms.h"

MSL_CONSTANT constexpr uint kRmsNorm = 1;
MSL_CONSTANT constexpr uint kGatedRmsNorm = 2;
MSL_CONSTANT constexpr uint kSigmoidGate = 3;
MSL_CONSTANT constexpr uint kMostHeads = 64;


METAL_FUNC void row_scales(MSL_DEVICE const float* x, long x_stride, MSL_CONSTANT pagoda_args::RowSource& source, uint rows,
                           MSL_THREADGROUP float* scales, MSL_THREADGROUP float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
#pragma unroll 2
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


METAL_FUNC float4 row_values(float4 v, float4 w, float4 g, MSL_CONSTANT pagoda_args::RowSource& source, float scale) {
  if (source.kind == kRmsNorm) {
    return float4(normed(v.x, scale, w.x, source.weight_offset), normed(v.y, scale, w.y, source.weight_offset),
                  normed(v.z, scale, w.z, source.weight_offset), normed(v.w, scale, w.w, source.weight_offset));
  }
  if (source.kind == kGatedRmsNorm) {
    return float4(gated_normed(v.x, scale, w.x, g.x), gated_normed(v.y, scale, w.y, g.y),
                  gated_normed(v.z, scale, w.z, g.z), gated_normed(v.w, scale, w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}


METAL_FUNC float4 row_elements(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                               MSL_CONSTANT pagoda_args::RowSource& source, float scale) {
  const float4 v = *(MSL_DEVICE const float4*)(x);
  float4 w = v;
  float4 g = v;

  if (source.kind != kSigmoidGate) {
    w = *(MSL_DEVICE const float4*)(weight);
  }

  if (source.kind != kRmsNorm) {
    g = *(MSL_DEVICE const float4*)(gate);
  }
  return row_values(v, w, g, source, scale);
}

MSL_CONSTANT constexpr uint kWideRow = 4 * kRowThreads;
MSL_CONSTANT constexpr uint kQuads = 2;
# 99 "Shaders/row_source.h"
METAL_FUNC void row_quads(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                          MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint from,
                          uint cols, uint tid, MSL_THREAD float4* out) {
  float4 v[kQuads];
  float4 w[kQuads];
  float4 g[kQuads];
  const bool has_weight = source.kind == kRmsNorm || source.kind == kGatedRmsNorm;
#pragma unroll
  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    v[j] = float4(0.0f, 0.0f, 0.0f, 0.0f);
    w[j] = v[j];
    g[j] = v[j];
    if (i < cols) {
      const uint head = source.kind == 0 ? 0 : i / source.dim;
      const uint d = i - head * source.dim;
      v[j] = *(MSL_DEVICE const float4*)(x + (source.kind == 0 ? long(i) : long(head) * source.x_head_stride + d));

      if (has_weight) {
        w[j] = *(MSL_DEVICE const float4*)(weight + d);
      }

      if (source.kind > kRmsNorm) {
        g[j] = *(MSL_DEVICE const float4*)(gate + long(head) * source.gate_head_stride + d);
      }
    }
  }
#pragma unroll
  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    out[j] = v[j];
    if (i < cols && source.kind != 0) {

      out[j] = row_values(v[j], w[j], g[j], source, source.kind == kSigmoidGate ? 1.0f : scales[i / source.dim]);
    }
  }
}
#endif
)msl"},
    {"Shaders/tiles.h",
R"msl(#ifndef PAGODA_TILES_H
#define PAGODA_TILES_H
# 9 "Shaders/tiles.h"
#include "Shaders/common.h"

MSL_CONSTANT constexpr uint kChunk = 64;
MSL_CONSTANT constexpr uint kChunkTiles = 8;
MSL_CONSTANT constexpr uint kTileScratch = 2 * kChunkTiles * 32;

typedef simdgroup_matrix<float, 8, 8> SumTile;


METAL_FUNC uint pack_half(float first, float second) {

  return msl_pack_half(first, second);
# 24 "Shaders/tiles.h"
}

METAL_FUNC uint pack_bfloat(float first, float second) {

  return msl_pack_bfloat(first, second);
# 32 "Shaders/tiles.h"
}


METAL_FUNC uint pack_exact(float first, float second) {
  return as_type<uint>(first) >> 16 | (as_type<uint>(second) & 0xffff0000u);
}


METAL_FUNC uint fma_bfloats(uint a, uint b, uint c) {

  return msl_fma_bfloats(a, b, c);
# 49 "Shaders/tiles.h"
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
# 85 "Shaders/tiles.h"
}
# 89 "Shaders/tiles.h"
template <typename T, uint R, uint M>
METAL_FUNC void pair_multiply(MSL_THREAD SumTile (&acc)[R][M], uint first, MSL_THREAD const uint (&w)[2][kChunkTiles],
                              MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_THREADGROUP uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[2][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }

  simdgroup_matrix<T, 8, 8> right[M][kChunkTiles];
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    make_tiles<T, true>(x[t], right[t], scratch, lane);
  }

#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
#pragma unroll
    for (uint t = 0; t < M; ++t) {
      msl_multiply_accumulate_pairs(acc[first][t], acc[first + 1][t], left[0][j], left[1][j], left[0][j + 1],
                                    left[1][j + 1], right[t][j], right[t][j + 1], true);
    }
  }
# 126 "Shaders/tiles.h"
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
# 161 "Shaders/tiles.h"
  }
}


METAL_FUNC void move_sum(MSL_THREAD SumTile& total, MSL_THREAD SumTile& part, MSL_THREADGROUP uint* scratch, uint lane) {

  msl_add(total, part);
# 179 "Shaders/tiles.h"
  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

METAL_FUNC void store_words(MSL_THREAD const uint (&words)[kChunkTiles], MSL_THREADGROUP uint* to) {
  *(MSL_THREADGROUP uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(MSL_THREADGROUP uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}

METAL_FUNC void load_words(MSL_THREADGROUP const uint* from, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_THREADGROUP const uint4*)(from), *(MSL_THREADGROUP const uint4*)(from + 4), words);
}
#endif
)msl"},
  };
  return kHeaders;
}
}  // namespace pagoda::device::gpu::generated
