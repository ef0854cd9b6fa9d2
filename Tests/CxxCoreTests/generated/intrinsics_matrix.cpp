// intrinsics_matrix.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
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
  for (uint i = lane; MSL_LOOP(i < 96); i += 32) {
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
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"ints", 0, BindingKind::buffer, sizeof(atomic_int), true}, {"uints", 1, BindingKind::buffer, sizeof(atomic_uint), true}, {"floats", 2, BindingKind::buffer, sizeof(atomic_float), true}, {"seen", 3, BindingKind::buffer, sizeof(uint), true}, {"shared", 4, BindingKind::buffer, sizeof(uint), true}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_atomics((atomic_int*)in.buffers[0], (atomic_uint*)in.buffers[1], (atomic_float*)in.buffers[2], (uint*)in.buffers[3], (uint*)in.buffers[4], msl_builtin<uint>(b.thread_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threadgroup_position_in_grid)); }
constexpr BindingInfo msl_bindings_1[] = {{"a", 0, BindingKind::buffer, sizeof(float), false}, {"b", 1, BindingKind::buffer, sizeof(float), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"typed", 3, BindingKind::buffer, sizeof(float), true}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_matrix<float>((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], (float*)in.buffers[3], msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"a", 0, BindingKind::buffer, sizeof(half), false}, {"b", 1, BindingKind::buffer, sizeof(half), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"typed", 3, BindingKind::buffer, sizeof(half), true}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_matrix<half>((const half*)in.buffers[0], (const half*)in.buffers[1], (float*)in.buffers[2], (half*)in.buffers[3], msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"a", 0, BindingKind::buffer, sizeof(bfloat), false}, {"b", 1, BindingKind::buffer, sizeof(bfloat), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"typed", 3, BindingKind::buffer, sizeof(bfloat), true}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_matrix<bfloat>((const bfloat*)in.buffers[0], (const bfloat*)in.buffers[1], (float*)in.buffers[2], (bfloat*)in.buffers[3], msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"intrinsics_atomics", "intrinsics_matrix", msl_bindings_0, {}, 1024, msl_entry_0},
  {"intrinsics_matrix_f32", "intrinsics_matrix", msl_bindings_1, {}, 1024, msl_entry_1},
  {"intrinsics_matrix_f16", "intrinsics_matrix", msl_bindings_2, {}, 1024, msl_entry_2},
  {"intrinsics_matrix_bf16", "intrinsics_matrix", msl_bindings_3, {}, 1024, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> intrinsics_matrix_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
