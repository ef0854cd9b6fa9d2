// Barriers and simd_* functions of the Metal Shading Language for the software device.
#pragma once

#include "device/gpu/shim/software/math.h"

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }

MSL_FN void threadgroup_barrier(mem_flags f, int line = __builtin_LINE()) {
  ::pagoda::device::gpu::software::threadgroup_barrier(uint(f), line);
}
MSL_FN void simdgroup_barrier(mem_flags f, int line = __builtin_LINE()) {
  ::pagoda::device::gpu::software::simdgroup_barrier(uint(f), line);
}

// simd_* accept the types that Metal's own backend is known to handle; bfloat is excluded on purpose.
template <typename T>
struct msl_simd_ok {
  static constexpr bool value = false;
};
#define MSL_SIMD_OK(T)                  \
  template <>                           \
  struct msl_simd_ok<T> {               \
    static constexpr bool value = true; \
  };
MSL_SIMD_OK(float)
MSL_SIMD_OK(half)
MSL_SIMD_OK(int)
MSL_SIMD_OK(uint)
MSL_SIMD_OK(short)
MSL_SIMD_OK(ushort)
#undef MSL_SIMD_OK
template <typename T, int N>
struct msl_simd_ok<vec<T, N>> {
  static constexpr bool value = msl_simd_ok<T>::value;
};

// Publishes v and returns the 32 lanes' values.
template <typename T>
MSL_FN const T* msl_gather(T v, const char* what, int line) {
  static_assert(msl_simd_ok<T>::value, "type not supported by simd_* functions in the portable subset");
  static_assert(sizeof(T) <= 16, "at most 16 bytes");
  return (const T*)::pagoda::device::gpu::software::simd_exchange(&v, sizeof(T), what, line);
}

// Reductions follow the butterfly order of the CUDA shim, so that the two can agree bit for bit.
#define MSL_REDUCE(NAME, EXPR)                                                                        \
  template <typename T>                                                                               \
  MSL_FN T NAME(T v, int line = __builtin_LINE()) {                                                   \
    static_assert(msl_simd_ok<T>::value, "type not supported by simd_* functions");                   \
    const auto fold = [](void* slots) {                                                               \
      T* s = (T*)slots;                                                                               \
      for (int w = 16; w; w /= 2)                                                                     \
        for (int i = 0; i < w; ++i) {                                                                 \
          const T a = s[i], b = s[i + w];                                                             \
          s[i] = EXPR;                                                                                \
        }                                                                                             \
    };                                                                                                \
    return *(const T*)::pagoda::device::gpu::software::simd_reduce(&v, sizeof(T), fold, #NAME, line); \
  }
MSL_REDUCE(simd_sum, a + b)
MSL_REDUCE(simd_product, a* b)
MSL_REDUCE(simd_max, b > a ? b : a)
MSL_REDUCE(simd_min, b < a ? b : a)
MSL_REDUCE(simd_or, a | b)
MSL_REDUCE(simd_and, a& b)
#undef MSL_REDUCE

#define MSL_SHUFFLE(NAME, PARAM, INDEX)                       \
  template <typename T>                                       \
  MSL_FN T NAME(T v, PARAM, int line = __builtin_LINE()) {    \
    const int lane = ::pagoda::device::gpu::software::lane(); \
    const int from = INDEX;                                   \
    (void)lane;                                               \
    return msl_gather(v, #NAME, line)[from & 31];             \
  }
MSL_SHUFFLE(simd_broadcast, ushort i, i)
MSL_SHUFFLE(simd_shuffle, ushort i, i)
MSL_SHUFFLE(simd_shuffle_xor, ushort m, lane ^ m)
MSL_SHUFFLE(simd_shuffle_up, ushort d, lane >= int(d) ? lane - d : lane)
MSL_SHUFFLE(simd_shuffle_down, ushort d, lane + d < 32 ? lane + d : lane)
MSL_SHUFFLE(simd_shuffle_rotate_up, ushort d, lane - d)
MSL_SHUFFLE(simd_shuffle_rotate_down, ushort d, lane + d)
#undef MSL_SHUFFLE
template <typename T>
MSL_FN T simd_prefix_inclusive_sum(T v, int line = __builtin_LINE()) {
  const T* s = msl_gather(v, "simd_prefix_inclusive_sum", line);
  T r = s[0];
  for (int i = 1; i <= ::pagoda::device::gpu::software::lane(); ++i) r = r + s[i];
  return r;
}
template <typename T>
MSL_FN T simd_prefix_exclusive_sum(T v, int line = __builtin_LINE()) {
  const T* s = msl_gather(v, "simd_prefix_exclusive_sum", line);
  T r = T(0);
  for (int i = 0; i < ::pagoda::device::gpu::software::lane(); ++i) r = r + s[i];
  return r;
}
MSL_FN bool simd_any(bool v, int line = __builtin_LINE()) { return simd_or(uint(v), line) != 0; }
MSL_FN bool simd_all(bool v, int line = __builtin_LINE()) { return simd_and(uint(v), line) != 0; }

}  // namespace metal
