// intrinsics_simd.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Tests/Kernels/intrinsics_simd.metal"
# 1 "Tests/Kernels/intrinsics_simd.metal"

# 3 "Tests/Kernels/intrinsics_simd.metal"
# 4 "Tests/Kernels/intrinsics_simd.metal"




MSL_KERNEL void intrinsics_simd_float(
    MSL_DEVICE const float* in ,
    MSL_DEVICE const uint* from ,
    MSL_DEVICE float* out ,
    uint tid ) {
  const float v = in[tid];
  const ushort lane = ushort(from[tid]);
  out[0 * 64 + tid] = simd_sum(v);
  out[1 * 64 + tid] = simd_product(v);
  out[2 * 64 + tid] = simd_max(v);
  out[3 * 64 + tid] = simd_min(v);
  out[4 * 64 + tid] = simd_prefix_inclusive_sum(v);
  out[5 * 64 + tid] = simd_prefix_exclusive_sum(v);
  out[6 * 64 + tid] = simd_broadcast(v, 5);
  out[7 * 64 + tid] = simd_shuffle(v, lane);
  out[8 * 64 + tid] = simd_shuffle_xor(v, 1);
  out[9 * 64 + tid] = simd_shuffle_xor(v, 16);
  out[10 * 64 + tid] = simd_shuffle_up(v, 3);
  out[11 * 64 + tid] = simd_shuffle_down(v, 5);
  out[12 * 64 + tid] = simd_shuffle_rotate_up(v, 7);
  out[13 * 64 + tid] = simd_shuffle_rotate_down(v, 9);
  const float4 wide = simd_shuffle(float4(v, v + 1.0f, v + 2.0f, v + 3.0f), lane);
  out[14 * 64 + tid] = wide.x;
  out[15 * 64 + tid] = wide.w;
  const half2 narrow = simd_shuffle_xor(half2(half(v), half(2.0f * v)), 2);
  out[16 * 64 + tid] = float(narrow.y);
  out[17 * 64 + tid] = float(simd_max(half(v)));
  out[18 * 64 + tid] = simd_sum(float2(v, 2.0f * v)).y;
}


MSL_KERNEL void intrinsics_simd_uint(
    MSL_DEVICE const uint* in ,
    MSL_DEVICE uint* out ,
    uint tid ) {
  const uint v = in[tid];
  out[0 * 64 + tid] = simd_or(v);
  out[1 * 64 + tid] = simd_and(v);
  out[2 * 64 + tid] = simd_sum(v);
  out[3 * 64 + tid] = simd_max(v);
  out[4 * 64 + tid] = simd_min(v);
  out[5 * 64 + tid] = simd_any(v == in[3]) ? 1u : 0u;
  out[6 * 64 + tid] = simd_all((v & 1u) == 1u) ? 1u : 0u;
  out[7 * 64 + tid] = simd_any(v == 0u) ? 1u : 0u;
  out[8 * 64 + tid] = simd_all(v != 0u) ? 1u : 0u;
  out[9 * 64 + tid] = simd_prefix_exclusive_sum(v);
  out[10 * 64 + tid] = uint(simd_shuffle(int(v), 4));
  out[11 * 64 + tid] = uint(simd_shuffle_down(ushort(v), 1));
  out[12 * 64 + tid] = uint(int(simd_min(short(v))));
  out[13 * 64 + tid] = uint(simd_max(int(v)));
}


MSL_KERNEL void intrinsics_positions(
    MSL_DEVICE uint* out ,
    uint3 in_grid ,
    uint3 in_group ,
    uint3 group ,
    uint3 grid_threads ,
    uint3 group_threads ,
    uint3 groups ,
    uint tid ,
    uint simdgroup ,
    uint lane ,
    uint num_simdgroups ,
    uint simd_width ) {
  const uint flat = (in_grid.z * grid_threads.y + in_grid.y) * grid_threads.x + in_grid.x;
  MSL_DEVICE uint* o = out + 16 * flat;
  o[0] = in_group.x;
  o[1] = in_group.y;
  o[2] = in_group.z;
  o[3] = group.x;
  o[4] = group.y;
  o[5] = group.z;
  o[6] = grid_threads.z;
  o[7] = group_threads.x;
  o[8] = group_threads.y;
  o[9] = groups.y;
  o[10] = groups.z;
  o[11] = tid;
  o[12] = simdgroup;
  o[13] = lane;
  o[14] = num_simdgroups;
  o[15] = simd_width;
}
# 1 "intrinsics_simd.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"in", 0, BindingKind::buffer, sizeof(float), false}, {"from", 1, BindingKind::buffer, sizeof(uint), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_simd_float((const float*)in.buffers[0], (const uint*)in.buffers[1], (float*)in.buffers[2], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"in", 0, BindingKind::buffer, sizeof(uint), false}, {"out", 1, BindingKind::buffer, sizeof(uint), true}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_simd_uint((const uint*)in.buffers[0], (uint*)in.buffers[1], msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"out", 0, BindingKind::buffer, sizeof(uint), true}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; intrinsics_positions((uint*)in.buffers[0], msl_builtin<uint3>(b.thread_position_in_grid), msl_builtin<uint3>(b.thread_position_in_threadgroup), msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint3>(b.threads_per_grid), msl_builtin<uint3>(b.threads_per_threadgroup), msl_builtin<uint3>(b.threadgroups_per_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup), msl_builtin<uint>(b.simdgroups_per_threadgroup), msl_builtin<uint>(b.threads_per_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"intrinsics_simd_float", "intrinsics_simd", msl_bindings_0, {}, 1024, msl_entry_0},
  {"intrinsics_simd_uint", "intrinsics_simd", msl_bindings_1, {}, 1024, msl_entry_1},
  {"intrinsics_positions", "intrinsics_simd", msl_bindings_2, {}, 1024, msl_entry_2},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> intrinsics_simd_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
