// The whole portable subset for the software device, including atomics and kernel inputs; generated files include this.
#pragma once

#include "device/gpu/shim/software/matrix.h"

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
constexpr auto msl_atomic_type = ::pagoda::device::gpu::software::AtomicType::int_;
template <>
inline constexpr auto msl_atomic_type<uint> = ::pagoda::device::gpu::software::AtomicType::uint_;
template <>
inline constexpr auto msl_atomic_type<float> = ::pagoda::device::gpu::software::AtomicType::float_;

template <typename T>
MSL_FN T msl_atomic_op(const msl_atomic<T>* p, T v, ::pagoda::device::gpu::software::AtomicOp op) {
  T old;
  ::pagoda::device::gpu::software::atomic((void*)p, msl_atomic_type<T>, op, &v, &old);
  return old;
}
template <typename T>
MSL_FN T atomic_load_explicit(const msl_atomic<T>* p, memory_order) {
  return msl_atomic_op(p, T(0), ::pagoda::device::gpu::software::AtomicOp::load);
}
#define MSL_ATOMIC(NAME, OP)                                                        \
  template <typename T>                                                             \
  MSL_FN T NAME(msl_atomic<T>* p, typename msl_identity<T>::type v, memory_order) { \
    return msl_atomic_op(p, v, ::pagoda::device::gpu::software::AtomicOp::OP);      \
  }
MSL_ATOMIC(atomic_fetch_add_explicit, add)
MSL_ATOMIC(atomic_fetch_max_explicit, max)
MSL_ATOMIC(atomic_fetch_min_explicit, min)
MSL_ATOMIC(atomic_fetch_or_explicit, bit_or)
MSL_ATOMIC(atomic_fetch_and_explicit, bit_and)
MSL_ATOMIC(atomic_exchange_explicit, exchange)
#undef MSL_ATOMIC
template <typename T>
MSL_FN void atomic_store_explicit(msl_atomic<T>* p, typename msl_identity<T>::type v, memory_order o) {
  atomic_exchange_explicit(p, v, o);
}

template <typename P>
struct msl_builtin_as {
  static P of(const ::pagoda::device::gpu::U3& u) { return P(u.x); }
  static P of(uint32_t u) { return P(u); }
};
template <typename T>
struct msl_builtin_as<vec<T, 2>> {
  static vec<T, 2> of(const ::pagoda::device::gpu::U3& u) { return vec<T, 2>(T(u.x), T(u.y)); }
};
template <typename T>
struct msl_builtin_as<vec<T, 3>> {
  static vec<T, 3> of(const ::pagoda::device::gpu::U3& u) { return vec<T, 3>(T(u.x), T(u.y), T(u.z)); }
};
template <typename P>
struct msl_builtin_as<const P> : msl_builtin_as<P> {};
template <typename P, typename U>
MSL_FN P msl_builtin(const U& u) {
  return msl_builtin_as<P>::of(u);
}

}  // namespace metal
