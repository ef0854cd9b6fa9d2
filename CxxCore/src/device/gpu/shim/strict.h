// Declarations for clang -fsyntax-only: no code is generated. Address spaces are real types here, and vectors are
// clang's own, as in Metal's compiler, so that mixing address spaces and binding references to vector elements are
// errors. Conversions of bfloat are checked by the CPU shim instead.
#pragma once

#define METAL_FUNC inline
#define MSL_KERNEL inline
#define MSL_DEVICE __attribute__((address_space(1)))
#define MSL_CONSTANT __attribute__((address_space(2))) const
#define MSL_THREADGROUP __attribute__((address_space(3)))
#define MSL_THREAD
#define MSL_CONSTANT_TABLE static __attribute__((address_space(2))) constexpr
#define MSL_TG_VAR(SITE, NAME, DIMS, ...) \
  typedef __VA_ARGS__ msl_tg_##NAME DIMS; \
  MSL_THREADGROUP msl_tg_##NAME& NAME = *msl_somewhere<MSL_THREADGROUP msl_tg_##NAME*>();
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) extern __attribute__((address_space(2))) const T NAME;

#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__

namespace metal {

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef _Float16 half;
typedef __fp16 bfloat;  // another 16-bit type, distinct from half

template <typename T, int N>
using vec = T __attribute__((ext_vector_type(N)));
#define MSL_NAMES(T)      \
  typedef vec<T, 2> T##2; \
  typedef vec<T, 3> T##3; \
  typedef vec<T, 4> T##4;
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
#undef MSL_NAMES
template <typename T>
struct msl_identity {
  typedef T type;
};
template <typename P>
P msl_somewhere();
template <typename V, typename... A>
V msl_make(A...);
template <typename T, typename U>
T as_type(U);
template <typename P>
struct msl_space {
  static constexpr int value = 0;
};
template <typename T>
struct msl_space<MSL_DEVICE T*> {
  static constexpr int value = 1;
};
template <typename T>
struct msl_space<__attribute__((address_space(2))) T*> {
  static constexpr int value = 2;
};
template <typename T>
struct msl_space<MSL_THREADGROUP T*> {
  static constexpr int value = 3;
};
template <typename To, typename From>
To msl_cast(From p) {
  static_assert(msl_space<To>::value == msl_space<From>::value, "a cast cannot change the address space");
  return (To)p;
}

#define MSL_FN1(NAME)                \
  float NAME(float);                 \
  half NAME(half);                   \
  template <int N>                   \
  vec<float, N> NAME(vec<float, N>); \
  template <int N>                   \
  vec<half, N> NAME(vec<half, N>);
#define MSL_FN1_ALL \
  MSL_FN1(exp)      \
  MSL_FN1(exp2) MSL_FN1(log) MSL_FN1(log2) MSL_FN1(sqrt) MSL_FN1(rsqrt) MSL_FN1(tanh) MSL_FN1(sin) MSL_FN1(cos)
MSL_FN1_ALL
MSL_FN1(floor)
MSL_FN1(ceil)
MSL_FN1(rint)
MSL_FN1(fabs)
MSL_FN1(abs)
namespace fast {
MSL_FN1_ALL
}
namespace precise {
MSL_FN1_ALL
}
int abs(int);
float pow(float, float);
float fma(float, float, float);
float fmin(float, float);
float fmax(float, float);
long abs(long);
#define MSL_ORDER(T) \
  T min(T, T);       \
  T max(T, T);       \
  T clamp(T, T, T);  \
  T select(T, T, bool);
MSL_ORDER(float)
MSL_ORDER(half)
MSL_ORDER(int)
MSL_ORDER(uint)
MSL_ORDER(short)
MSL_ORDER(ushort)
MSL_ORDER(long)
MSL_ORDER(ulong)
#undef MSL_ORDER
template <typename T, int N, typename B>
vec<T, N> select(vec<T, N>, vec<T, N>, B);
template <typename T, int N>
T dot(vec<T, N>, vec<T, N>);
template <typename T, int N>
vec<T, N> min(vec<T, N>, vec<T, N>);
template <typename T, int N>
vec<T, N> max(vec<T, N>, vec<T, N>);
template <typename T, int N>
vec<T, N> fma(vec<T, N>, vec<T, N>, vec<T, N>);
template <typename T, int N>
vec<T, N> clamp(vec<T, N>, typename msl_identity<T>::type, typename msl_identity<T>::type);
template <typename B>
bool any(B);
template <typename B>
bool all(B);
typedef float3 packed_float3;  // the layout differs, which a type check does not notice
typedef half3 packed_half3;
uint popcount(uint);
uint clz(uint);

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
mem_flags operator|(mem_flags, mem_flags);
void threadgroup_barrier(mem_flags);
void simdgroup_barrier(mem_flags);
#define MSL_SIMD(NAME)  \
  template <typename T> \
  T NAME(T);
MSL_SIMD(simd_sum)
MSL_SIMD(simd_product)
MSL_SIMD(simd_max)
MSL_SIMD(simd_min)
MSL_SIMD(simd_or)
MSL_SIMD(simd_and)
MSL_SIMD(simd_prefix_inclusive_sum)
MSL_SIMD(simd_prefix_exclusive_sum)
#undef MSL_SIMD
#define MSL_SHUFFLE(NAME) \
  template <typename T>   \
  T NAME(T, ushort);
MSL_SHUFFLE(simd_broadcast)
MSL_SHUFFLE(simd_shuffle)
MSL_SHUFFLE(simd_shuffle_xor)
MSL_SHUFFLE(simd_shuffle_up)
MSL_SHUFFLE(simd_shuffle_down)
MSL_SHUFFLE(simd_shuffle_rotate_up)
MSL_SHUFFLE(simd_shuffle_rotate_down)
#undef MSL_SHUFFLE
bool simd_any(bool);
bool simd_all(bool);

template <typename T, int C, int R = C>
struct simdgroup_matrix {
  T opaque[2];
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <typename T, int C, int R>
simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T);
template <typename T>
void simdgroup_load(simdgroup_matrix<T, 8, 8>&, MSL_DEVICE const T*, ulong = 8, ulong2 = 0, bool = false);
template <typename T>
void simdgroup_load(simdgroup_matrix<T, 8, 8>&, MSL_THREADGROUP const T*, ulong = 8, ulong2 = 0, bool = false);
template <typename T>
void simdgroup_store(simdgroup_matrix<T, 8, 8>, MSL_DEVICE T*, ulong = 8, ulong2 = 0, bool = false);
template <typename T>
void simdgroup_store(simdgroup_matrix<T, 8, 8>, MSL_THREADGROUP T*, ulong = 8, ulong2 = 0, bool = false);
template <typename TD, typename TA, typename TB, typename TC>
void simdgroup_multiply_accumulate(simdgroup_matrix<TD, 8, 8>&, simdgroup_matrix<TA, 8, 8>, simdgroup_matrix<TB, 8, 8>,
                                   simdgroup_matrix<TC, 8, 8>);
template <typename TD, typename TA, typename TB>
void simdgroup_multiply(simdgroup_matrix<TD, 8, 8>&, simdgroup_matrix<TA, 8, 8>, simdgroup_matrix<TB, 8, 8>);

enum memory_order { memory_order_relaxed };
template <typename T>
struct msl_atomic {
  T v;
};
typedef msl_atomic<int> atomic_int;
typedef msl_atomic<uint> atomic_uint;
typedef msl_atomic<float> atomic_float;
#define MSL_ATOMIC(SPACE)                                             \
  template <typename T>                                               \
  T atomic_load_explicit(SPACE const msl_atomic<T>*, memory_order);   \
  template <typename T>                                               \
  void atomic_store_explicit(SPACE msl_atomic<T>*, T, memory_order);  \
  template <typename T>                                               \
  T atomic_fetch_add_explicit(SPACE msl_atomic<T>*, T, memory_order); \
  template <typename T>                                               \
  T atomic_fetch_max_explicit(SPACE msl_atomic<T>*, T, memory_order); \
  template <typename T>                                               \
  T atomic_fetch_min_explicit(SPACE msl_atomic<T>*, T, memory_order); \
  template <typename T>                                               \
  T atomic_fetch_or_explicit(SPACE msl_atomic<T>*, T, memory_order);  \
  template <typename T>                                               \
  T atomic_fetch_and_explicit(SPACE msl_atomic<T>*, T, memory_order); \
  template <typename T>                                               \
  T atomic_exchange_explicit(SPACE msl_atomic<T>*, T, memory_order);
MSL_ATOMIC(MSL_DEVICE)
MSL_ATOMIC(MSL_THREADGROUP)
#undef MSL_ATOMIC

}  // namespace metal

#include "device/gpu/shim/strict_tensor.h"
