// Types and keywords of the Metal Shading Language for the software device: C++20 for clang.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/gpu/software/kernel_runtime.h"

// Sums must not depend on what a processor can fuse; kernels that need a fused operation use fma().
#pragma clang fp contract(off)
// A kernel file uses only part of its common headers.
#pragma clang diagnostic ignored "-Wunused-const-variable"
#pragma clang diagnostic ignored "-Wunused-function"

#define MSL_FN inline __attribute__((always_inline))
#define METAL_FUNC inline __attribute__((always_inline))
#define MSL_KERNEL static inline __attribute__((always_inline))
#define MSL_DEVICE
#define MSL_THREAD
#define MSL_THREADGROUP
#define MSL_CONSTANT const
#define MSL_CONSTANT_TABLE static constexpr
#define MSL_TG_VAR(SITE, NAME, DIMS, ...)                                                       \
  typedef __VA_ARGS__ msl_tg_##NAME DIMS;                                                       \
  msl_tg_##NAME& NAME = *(msl_tg_##NAME*)::pagoda::device::gpu::software::threadgroup_variable( \
      SITE, #NAME, sizeof(msl_tg_##NAME), __LINE__);
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) \
  thread_local T NAME;                        \
  void msl_set_##NAME(uint32_t bits) noexcept { NAME = msl_from_bits<T>(bits); }
// Whether a loop continues; an endless loop ends in an error.
#define MSL_LOOP(...) ((__VA_ARGS__) && ::pagoda::device::gpu::software::count_round(__LINE__))

#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__

namespace metal {

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;
typedef _Float16 half;

// Explicit conversions only: the strictest reading of Metal's rules for bfloat.
struct bfloat {
  uint16_t bits;
  bfloat() = default;
  explicit bfloat(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    bits = (u & 0x7fffffffu) > 0x7f800000u ? uint16_t(u >> 16 | 0x40) : uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  explicit operator float() const {
    uint32_t u = uint32_t(bits) << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
  }
};

template <typename T, typename U>
MSL_FN T as_type(U u) {
  static_assert(sizeof(T) == sizeof(U), "as_type keeps the size");
  T t;
  memcpy(&t, &u, sizeof(T));
  return t;
}

template <typename T>
MSL_FN T msl_from_bits(uint32_t bits) {
  if constexpr (sizeof(T) == sizeof(bits)) return as_type<T>(bits);
  else return bits != 0;
}

}  // namespace metal
