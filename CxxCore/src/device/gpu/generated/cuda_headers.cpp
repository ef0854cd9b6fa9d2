// Headers that only the CUDA text includes, by name. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
std::span<const KernelHeader> cuda_headers() noexcept {
  static constexpr KernelHeader kHeaders[] = {
    {"device/gpu/shim/vec.h",
R"msl(#ifdef MSL_WIDE_COPY
#define MSL_VEC_COPY                                                                                 \
  MSL_FN vec(const vec& o) {                                                                         \
    *(typename msl_wide<sizeof(vec)>::type*)this = *(const typename msl_wide<sizeof(vec)>::type*)&o; \
  }                                                                                                  \
  MSL_FN vec& operator=(const vec& o) {                                                              \
    *(typename msl_wide<sizeof(vec)>::type*)this = *(const typename msl_wide<sizeof(vec)>::type*)&o; \
    return *this;                                                                                    \
  }
#elif defined(MSL_CHECKED)
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
}
)msl"},
    {"device/gpu/shim/cuda/math.h",
R"msl(#include "device/gpu/shim/cuda/types.h"
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
}
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
}
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
}
#define MSL_WIDE_COPY
#include "device/gpu/shim/vec.h"
)msl"},
    {"device/gpu/shim/cuda/matrix.h",
R"msl(#include "device/gpu/shim/cuda/simd.h"
namespace metal {
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
  uint rows, cols;
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
MSL_FN uint msl_and_or(uint a, uint mask, uint bits) {
  uint word;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(word) : "r"(a), "r"(mask), "r"(bits));
  return word;
}
MSL_FN uint msl_twice(float v) { return __byte_perm(__float_as_uint(v), 0, 0x3232); }
template <typename T, bool TRANSPOSED>
MSL_FN void msl_set_word(simdgroup_matrix<T, 8, 8>& m, uint word) {
  if (TRANSPOSED) m.cols = word;
  else m.rows = word;
}
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
}
)msl"},
    {"device/gpu/shim/cuda/msl.h",
R"msl(#include "device/gpu/shim/cuda/warpgroup.h"
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
}
#include "device/gpu/shim/cuda/words.h"
)msl"},
    {"device/gpu/shim/cuda/simd.h",
R"msl(#include "device/gpu/shim/cuda/math.h"
namespace metal {
enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
MSL_FN mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
MSL_FN void threadgroup_barrier(mem_flags) { __syncthreads(); }
MSL_FN void simdgroup_barrier(mem_flags) { __syncwarp(); }
MSL_FN void msl_keep_loads_here() { __syncwarp(); }
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
}
)msl"},
    {"device/gpu/shim/cuda/types.h",
R"msl(#define MSL_FN __device__ __forceinline__
#define METAL_FUNC __device__ __forceinline__
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
}
)msl"},
    {"device/gpu/shim/cuda/warpgroup.h",
R"msl(#include "device/gpu/shim/cuda/matrix.h"
namespace metal {
template <uint STAGES, uint BYTES>
struct msl_ring {
  uint stages, barriers;
  MSL_FN msl_ring(bool is_first, uint simdgroups) {
    extern __shared__ uint msl_dynamic_memory[];
    stages = (uint(__cvta_generic_to_shared(msl_dynamic_memory)) + 1023) & ~1023u;
    barriers = stages + STAGES * BYTES;
    if (is_first) {
      for (uint s = 0; s < STAGES; ++s) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers + 16 * s) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barriers + 16 * s + 8), "r"(simdgroups)
                     : "memory");
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
  }
  MSL_FN void fetch(uint n, const void* from, uint bytes) {
    const uint stage = n % STAGES;
    const uint full = barriers + 16 * stage;
    if (n >= STAGES) wait(full + 8, (n / STAGES - 1) & 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     stages + stage * BYTES),
                 "l"(from), "r"(bytes), "r"(full)
                 : "memory");
  }
  MSL_FN uint await(uint n) {
    wait(barriers + 16 * (n % STAGES), n / STAGES & 1);
    return stages + n % STAGES * BYTES;
  }
  MSL_FN void release(uint n) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barriers + 16 * (n % STAGES) + 8) : "memory");
  }
  static MSL_FN void wait(uint barrier, uint phase) {
    asm volatile(
        "{.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\n"
        "DONE:\n}" ::"r"(barrier),
        "r"(phase)
        : "memory");
  }
};
MSL_FN void msl_prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
MSL_FN ulong msl_swizzled_rows(uint address) {
  return ulong((address & 0x3ffffu) >> 4) | 1ul << 16 | ulong(1024 >> 4) << 32 | 1ul << 62;
}
#define MSL_SUMS(J) \
  "+f"(acc[0][J].msl_e[0]), "+f"(acc[0][J].msl_e[1]), "+f"(acc[1][J].msl_e[0]), "+f"(acc[1][J].msl_e[1])
#define MSL_SUMS_128                                                                                                   \
  MSL_SUMS(0), MSL_SUMS(1), MSL_SUMS(2), MSL_SUMS(3), MSL_SUMS(4), MSL_SUMS(5), MSL_SUMS(6), MSL_SUMS(7), MSL_SUMS(8), \
      MSL_SUMS(9), MSL_SUMS(10), MSL_SUMS(11), MSL_SUMS(12), MSL_SUMS(13), MSL_SUMS(14), MSL_SUMS(15)
#define MSL_REGISTERS_128                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, " \
  "%59, %60, %61, %62, %63"
#define MSL_SUMS_192                                                                                                   \
  MSL_SUMS(0), MSL_SUMS(1), MSL_SUMS(2), MSL_SUMS(3), MSL_SUMS(4), MSL_SUMS(5), MSL_SUMS(6), MSL_SUMS(7), MSL_SUMS(8), \
      MSL_SUMS(9), MSL_SUMS(10), MSL_SUMS(11), MSL_SUMS(12), MSL_SUMS(13), MSL_SUMS(14), MSL_SUMS(15), MSL_SUMS(16),   \
      MSL_SUMS(17), MSL_SUMS(18), MSL_SUMS(19), MSL_SUMS(20), MSL_SUMS(21), MSL_SUMS(22), MSL_SUMS(23)
#define MSL_REGISTERS_192                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, " \
  "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, " \
  "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define MSL_WARPGROUP(TILES, WIDTH, T, NAME, A0, A1, A2, A3, RIGHT, ADDS)                                          \
  MSL_FN void msl_warpgroup_multiply(simdgroup_float8x8(&acc)[2][TILES], T, const uint(&left)[4], ulong right,     \
                                     bool adds) {                                                                  \
    asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " ADDS ", 0;\nwgmma.mma_async.sync.aligned.m64n" #WIDTH           \
                 "k16.f32." NAME "." NAME " {" MSL_REGISTERS_##WIDTH "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " RIGHT \
                                                                     ", p, 1, 1, 0;\n}"                            \
                 : MSL_SUMS_##WIDTH                                                                                \
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(uint(adds)));           \
  }
MSL_WARPGROUP(16, 128, half, "f16", "%64", "%65", "%66", "%67", "%68", "%69")
MSL_WARPGROUP(16, 128, bfloat, "bf16", "%64", "%65", "%66", "%67", "%68", "%69")
MSL_WARPGROUP(24, 192, half, "f16", "%96", "%97", "%98", "%99", "%100", "%101")
MSL_WARPGROUP(24, 192, bfloat, "bf16", "%96", "%97", "%98", "%99", "%100", "%101")
#undef MSL_WARPGROUP
#define MSL_WARPGROUP(TILES, WIDTH)                                                \
  MSL_FN void msl_warpgroup_begin(simdgroup_float8x8(&acc)[2][TILES]) {            \
    asm volatile("wgmma.fence.sync.aligned;" : MSL_SUMS_##WIDTH::"memory");        \
  }                                                                                \
  MSL_FN void msl_warpgroup_wait(simdgroup_float8x8(&acc)[2][TILES]) {             \
    asm volatile("wgmma.wait_group.sync.aligned 0;" : MSL_SUMS_##WIDTH::"memory"); \
  }
MSL_WARPGROUP(16, 128)
MSL_WARPGROUP(24, 192)
#undef MSL_WARPGROUP
MSL_FN void msl_warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
#undef MSL_SUMS
#undef MSL_SUMS_128
#undef MSL_SUMS_192
#undef MSL_REGISTERS_128
#undef MSL_REGISTERS_192
}
)msl"},
    {"device/gpu/shim/cuda/words.h",
R"msl(#define __METAL__
#define __METAL_VERSION__ 310
#define __HAVE_BFLOAT__
#define __MSL_PAIRED_MMA__
#undef __device__
#undef __constant__
#define __device__ __attribute__((__device__))
#define __constant__ __attribute__((__constant__))
#define device
#define thread
#define threadgroup
#define constant const
#define kernel static __device__ __forceinline__
#define MSL_SHARED __shared__ alignas(16)
#define MSL_CONSTANT_TABLE static __constant__ const
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) static constexpr T NAME = T(MSL_CONSTANT_##NAME);
#define MSL_INSTANCE(NAME, KERNEL, ...)
#define buffer(INDEX)
#define max_total_threads_per_threadgroup(COUNT)
#define thread_position_in_grid
#define thread_position_in_threadgroup
#define threadgroup_position_in_grid
#define threads_per_grid
#define threads_per_threadgroup
#define threadgroups_per_grid
#define thread_index_in_threadgroup
#define simdgroup_index_in_threadgroup
#define thread_index_in_simdgroup
#define simdgroups_per_threadgroup
#define threads_per_simdgroup
#define MSL_GLOBAL(BOUNDS) extern "C" __global__ void __launch_bounds__ BOUNDS MSL_ONLY
#define MSL_ENTRY(NAME) MSL_ENTRY_OF(NAME)
#define MSL_ENTRY_OF(NAME) MSL_ENTRY_##NAME
)msl"},
  };
  return kHeaders;
}
}  // namespace pagoda::device::gpu::generated
