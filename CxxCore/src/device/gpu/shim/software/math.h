// Mathematical functions of the Metal Shading Language for the software device.
#pragma once

#include "device/gpu/shim/software/types.h"

namespace metal {

#define MSL_MATH1(NAME, CALL)                 \
  MSL_FN float NAME(float x) { return CALL; } \
  MSL_FN half NAME(half h) {                  \
    const float x = h;                        \
    return half(CALL);                        \
  }
#define MSL_MATH_ALL                  \
  MSL_MATH1(exp, ::expf(x))           \
  MSL_MATH1(exp2, ::exp2f(x))         \
  MSL_MATH1(log, ::logf(x))           \
  MSL_MATH1(log2, ::log2f(x))         \
  MSL_MATH1(sqrt, ::sqrtf(x))         \
  MSL_MATH1(rsqrt, 1.0f / ::sqrtf(x)) \
  MSL_MATH1(tanh, ::tanhf(x))         \
  MSL_MATH1(sin, ::sinf(x))           \
  MSL_MATH1(cos, ::cosf(x))
MSL_MATH_ALL
MSL_MATH1(floor, ::floorf(x))
MSL_MATH1(ceil, ::ceilf(x))
MSL_MATH1(rint, ::rintf(x))
MSL_MATH1(fabs, ::fabsf(x))
MSL_MATH1(abs, ::fabsf(x))
namespace fast {
MSL_MATH_ALL
}
namespace precise {
MSL_MATH_ALL
}
#undef MSL_MATH1
#undef MSL_MATH_ALL
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
MSL_FN uint popcount(uint x) { return uint(__builtin_popcount(x)); }
MSL_FN uint clz(uint x) { return x ? uint(__builtin_clz(x)) : 32u; }

}  // namespace metal

#include "device/gpu/shim/vec.h"
