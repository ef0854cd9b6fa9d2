// Types and keywords of the Metal Shading Language for CUDA, compiled by NVRTC or nvcc. Nothing of the CUDA toolkit is
// included: a machine may have NVRTC without headers.
#pragma once

#define MSL_FN __device__ __forceinline__
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
