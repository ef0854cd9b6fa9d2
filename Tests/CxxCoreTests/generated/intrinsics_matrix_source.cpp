// The text of intrinsics_matrix.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource intrinsics_matrix_source() noexcept {
  return {"intrinsics_matrix",
R"msl(#pragma METAL fp contract(off)
// simdgroup_matrix with every type and every way of loading and storing, and atomics, in the same order as in the host
// test.
#include <metal_atomic>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// a, b: [16, 24] with a stride of 24. out: [6, 64]: A, A^T loaded, A^T stored, A B, A B + A (as float), origin (8, 4).
template <typename T>
kernel void intrinsics_matrix(
    device const T* a [[buffer(0)]],
    device const T* b [[buffer(1)]],
    device float* out [[buffer(2)]],
    device T* typed [[buffer(3)]],
    uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_matrix<T, 8, 8> am;
  simdgroup_matrix<T, 8, 8> at;
  simdgroup_matrix<T, 8, 8> bm;
  simdgroup_load(am, a, 24);
  simdgroup_load(at, a, 24, ulong2(0, 0), true);
  simdgroup_load(bm, b, 24);
  simdgroup_store(am, typed, 8);
  simdgroup_store(at, typed + 64, 8);
  simdgroup_store(am, typed + 128, 8, ulong2(0, 0), true);
  simdgroup_matrix<float, 8, 8> product;
  simdgroup_multiply(product, am, bm);
  simdgroup_store(product, out, 8);
  simdgroup_matrix<float, 8, 8> sum = make_filled_simdgroup_matrix<float, 8, 8>(1.5f);
  simdgroup_multiply_accumulate(sum, at, bm, sum);
  simdgroup_store(sum, out + 64, 8);
  simdgroup_load(am, a, 24, ulong2(8, 4));
  simdgroup_store(am, typed + 192, 16, ulong2(8, 4));
  threadgroup T tile[8 * 12];
  for (uint i = lane; i < 96; i += 32) {
    tile[i] = a[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(am, (threadgroup const T*)(tile), 12);
  simdgroup_store(am, typed + 512, 8);
}
template [[host_name("intrinsics_matrix_f32")]] kernel decltype(intrinsics_matrix<float>) intrinsics_matrix<float>;
template [[host_name("intrinsics_matrix_f16")]] kernel decltype(intrinsics_matrix<half>) intrinsics_matrix<half>;
template [[host_name("intrinsics_matrix_bf16")]] kernel decltype(intrinsics_matrix<bfloat>) intrinsics_matrix<bfloat>;

// ints: [4] of add, max, min, exchange; uints: [4] of add, max, or, and; floats: [1] of add; seen: old values of add.
kernel void intrinsics_atomics(
    device atomic_int* ints [[buffer(0)]],
    device atomic_uint* uints [[buffer(1)]],
    device atomic_float* floats [[buffer(2)]],
    device uint* seen [[buffer(3)]],
    device uint* shared [[buffer(4)]],
    uint i [[thread_position_in_grid]],
    uint tid [[thread_index_in_threadgroup]],
    uint group [[threadgroup_position_in_grid]]) {
  atomic_fetch_add_explicit(ints, int(i) - 3, memory_order_relaxed);
  atomic_fetch_max_explicit(ints + 1, int(i * 7 % 64) - 100, memory_order_relaxed);
  atomic_fetch_min_explicit(ints + 2, int(i * 7 % 64) - 100, memory_order_relaxed);
  if (i == 5) {
    atomic_exchange_explicit(ints + 3, 42, memory_order_relaxed);
  }
  seen[i] = atomic_fetch_add_explicit(uints, 1u, memory_order_relaxed);
  atomic_fetch_max_explicit(uints + 1, i, memory_order_relaxed);
  atomic_fetch_or_explicit(uints + 2, 1u << (i % 32), memory_order_relaxed);
  atomic_fetch_and_explicit(uints + 3, ~(1u << (i % 7)), memory_order_relaxed);
  atomic_fetch_add_explicit(floats, 0.5f, memory_order_relaxed);
  threadgroup atomic_uint count;
  if (tid == 0) {
    atomic_store_explicit(&count, 10u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, 2u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    shared[group] = atomic_load_explicit(&count, memory_order_relaxed);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Tests/Kernels/intrinsics_matrix.metal"
# 1 "Tests/Kernels/intrinsics_matrix.metal"


# 4 "Tests/Kernels/intrinsics_matrix.metal"
# 5 "Tests/Kernels/intrinsics_matrix.metal"
# 6 "Tests/Kernels/intrinsics_matrix.metal"




template <typename T>
MSL_KERNEL void intrinsics_matrix(
    MSL_DEVICE const T* a ,
    MSL_DEVICE const T* b ,
    MSL_DEVICE float* out ,
    MSL_DEVICE T* typed ,
    uint lane ) {
  simdgroup_matrix<T, 8, 8> am;
  simdgroup_matrix<T, 8, 8> at;
  simdgroup_matrix<T, 8, 8> bm;
  simdgroup_load(am, a, 24);
  simdgroup_load(at, a, 24, ulong2(0, 0), true);
  simdgroup_load(bm, b, 24);
  simdgroup_store(am, typed, 8);
  simdgroup_store(at, typed + 64, 8);
  simdgroup_store(am, typed + 128, 8, ulong2(0, 0), true);
  simdgroup_matrix<float, 8, 8> product;
  simdgroup_multiply(product, am, bm);
  simdgroup_store(product, out, 8);
  simdgroup_matrix<float, 8, 8> sum = make_filled_simdgroup_matrix<float, 8, 8>(1.5f);
  simdgroup_multiply_accumulate(sum, at, bm, sum);
  simdgroup_store(sum, out + 64, 8);
  simdgroup_load(am, a, 24, ulong2(8, 4));
  simdgroup_store(am, typed + 192, 16, ulong2(8, 4));
  MSL_TG_VAR(1, tile, [8*12], T)
  for (uint i = lane; i < 96; i += 32) {
    tile[i] = a[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(am, (MSL_THREADGROUP const T*)(tile), 12);
  simdgroup_store(am, typed + 512, 8);
}





MSL_KERNEL void intrinsics_atomics(
    MSL_DEVICE atomic_int* ints ,
    MSL_DEVICE atomic_uint* uints ,
    MSL_DEVICE atomic_float* floats ,
    MSL_DEVICE uint* seen ,
    MSL_DEVICE uint* shared ,
    uint i ,
    uint tid ,
    uint group ) {
  atomic_fetch_add_explicit(ints, int(i) - 3, memory_order_relaxed);
  atomic_fetch_max_explicit(ints + 1, int(i * 7 % 64) - 100, memory_order_relaxed);
  atomic_fetch_min_explicit(ints + 2, int(i * 7 % 64) - 100, memory_order_relaxed);
  if (i == 5) {
    atomic_exchange_explicit(ints + 3, 42, memory_order_relaxed);
  }
  seen[i] = atomic_fetch_add_explicit(uints, 1u, memory_order_relaxed);
  atomic_fetch_max_explicit(uints + 1, i, memory_order_relaxed);
  atomic_fetch_or_explicit(uints + 2, 1u << (i % 32), memory_order_relaxed);
  atomic_fetch_and_explicit(uints + 3, ~(1u << (i % 7)), memory_order_relaxed);
  atomic_fetch_add_explicit(floats, 0.5f, memory_order_relaxed);
  MSL_TG_VAR(2, count, , atomic_uint)
  if (tid == 0) {
    atomic_store_explicit(&count, 10u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, 2u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    shared[group] = atomic_load_explicit(&count, memory_order_relaxed);
  }
}


# 1 "intrinsics_matrix.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_intrinsics_atomics)
extern "C" __global__ void __launch_bounds__(1024) intrinsics_atomics(atomic_int* ints, atomic_uint* uints, atomic_float* floats, uint* seen, uint* shared) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  intrinsics_atomics(ints, uints, floats, seen, shared, msl_builtin<uint>(msl_thread_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threadgroup_position_in_grid()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_intrinsics_matrix_f32)
extern "C" __global__ void __launch_bounds__(1024) intrinsics_matrix_f32(const float* a, const float* b, float* out, float* typed) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  intrinsics_matrix<float>(a, b, out, typed, msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_intrinsics_matrix_f16)
extern "C" __global__ void __launch_bounds__(1024) intrinsics_matrix_f16(const half* a, const half* b, float* out, half* typed) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  intrinsics_matrix<half>(a, b, out, typed, msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_intrinsics_matrix_bf16)
extern "C" __global__ void __launch_bounds__(1024) intrinsics_matrix_bf16(const bfloat* a, const bfloat* b, float* out, bfloat* typed) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  intrinsics_matrix<bfloat>(a, b, out, typed, msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
