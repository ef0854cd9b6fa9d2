// Barriers and simd_* functions of the Metal Shading Language for CUDA. A simdgroup is a warp.
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
