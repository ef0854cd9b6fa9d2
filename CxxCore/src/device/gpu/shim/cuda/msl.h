// The whole portable subset for CUDA, including atomics and kernel inputs; the text of every kernel follows it.
#pragma once

#include "device/gpu/shim/cuda/warpgroup.h"

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

}  // namespace metal

#include "device/gpu/shim/cuda/words.h"
