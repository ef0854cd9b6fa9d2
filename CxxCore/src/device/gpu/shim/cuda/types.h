// Types and words of the Metal Shading Language for CUDA, compiled by NVRTC or nvcc.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define MSL_FN __device__ __forceinline__
#define METAL_FUNC __device__ __forceinline__
#define MSL_KERNEL static __device__ __forceinline__
#define MSL_DEVICE
#define MSL_THREAD
#define MSL_THREADGROUP
#define MSL_CONSTANT const
#define MSL_CONSTANT_TABLE static __constant__ const
#define MSL_TG_VAR(SITE, NAME, DIMS, ...) __shared__ alignas(16) __VA_ARGS__ NAME DIMS;

// The host gives each constant of a pipeline as a macro, -DMSL_CONSTANT_<name>=<value>.
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

// Metal's half: converts to and from float freely; half op half stays half, half op float is float.
struct half {
  __half h;
  half() = default;
  MSL_FN half(__half v) : h(v) {}
  MSL_FN half(float f) : h(__float2half_rn(f)) {}
  MSL_FN half(int i) : h(__int2half_rn(i)) {}
  MSL_FN half(uint i) : h(__uint2half_rn(i)) {}
  MSL_FN operator float() const { return __half2float(h); }
};
MSL_FN half operator+(half a, half b) { return __hadd(a.h, b.h); }
MSL_FN half operator-(half a, half b) { return __hsub(a.h, b.h); }
MSL_FN half operator*(half a, half b) { return __hmul(a.h, b.h); }
MSL_FN half operator/(half a, half b) { return __hdiv(a.h, b.h); }
MSL_FN half operator-(half a) { return __hneg(a.h); }
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
#define MSL_HCMP(OP, FN) \
  MSL_FN bool operator OP(half a, half b) { return FN(a.h, b.h); }
MSL_HCMP(<, __hlt)
MSL_HCMP(>, __hgt)
MSL_HCMP(<=, __hle)
MSL_HCMP(>=, __hge)
MSL_HCMP(==, __heq)
MSL_HCMP(!=, __hne)
#undef MSL_HCMP

struct bfloat {
  __nv_bfloat16 b;
  bfloat() = default;
  MSL_FN explicit bfloat(float f) : b(__float2bfloat16_rn(f)) {}
  MSL_FN explicit operator float() const { return __bfloat162float(b); }
};

template <typename T, typename U>
MSL_FN T as_type(U u) {
  static_assert(sizeof(T) == sizeof(U), "as_type keeps the size");
  T t;
  memcpy(&t, &u, sizeof(T));
  return t;
}

}  // namespace metal
