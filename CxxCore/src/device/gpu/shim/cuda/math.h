// Mathematical functions of the Metal Shading Language for CUDA.
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
