// The text of intrinsics_matrix.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource intrinsics_matrix_source() noexcept {
  return {"intrinsics_matrix",
R"msl(#include <metal_atomic>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;
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
  MSL_SHARED T tile[8 * 12];
  for (uint i = lane; i < 96; i += 32) {
    tile[i] = a[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(am, (threadgroup const T*)(tile), 12);
  simdgroup_store(am, typed + 512, 8);
}
MSL_INSTANCE(intrinsics_matrix_f32, intrinsics_matrix, float)
MSL_INSTANCE(intrinsics_matrix_f16, intrinsics_matrix, half)
MSL_INSTANCE(intrinsics_matrix_bf16, intrinsics_matrix, bfloat)
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
  MSL_SHARED atomic_uint count;
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
R"msl(#define MSL_KERNEL_intrinsics_atomics(BOUNDS) MSL_GLOBAL(BOUNDS)(atomic_int* ints, atomic_uint* uints, atomic_float* floats, uint* seen, uint* shared) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_atomics(ints, uints, floats, seen, shared, msl_builtin<uint>(msl_thread_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threadgroup_position_in_grid())); }
#define MSL_KERNEL_intrinsics_matrix(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const T* a, const T* b, float* out, T* typed) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_matrix<T>(a, b, out, typed, msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_intrinsics_atomics MSL_KERNEL_intrinsics_atomics((1024))
#define MSL_ENTRY_intrinsics_matrix_f32 MSL_KERNEL_intrinsics_matrix((1024), float)
#define MSL_ENTRY_intrinsics_matrix_f16 MSL_KERNEL_intrinsics_matrix((1024), half)
#define MSL_ENTRY_intrinsics_matrix_bf16 MSL_KERNEL_intrinsics_matrix((1024), bfloat)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
