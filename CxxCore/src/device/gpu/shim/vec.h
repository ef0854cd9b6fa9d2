// vec<T, N> and the component-wise functions, shared by the software and CUDA shims. Vectors are passed by value: a
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
