// The text of intrinsics_simd.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource intrinsics_simd_source() noexcept {
  return {"intrinsics_simd",
R"msl(#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;
kernel void intrinsics_simd_float(
    device const float* in [[buffer(0)]],
    device const uint* from [[buffer(1)]],
    device float* out [[buffer(2)]],
    uint tid [[thread_index_in_threadgroup]]) {
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
kernel void intrinsics_simd_uint(
    device const uint* in [[buffer(0)]],
    device uint* out [[buffer(1)]],
    uint tid [[thread_index_in_threadgroup]]) {
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
kernel void intrinsics_positions(
    device uint* out [[buffer(0)]],
    uint3 in_grid [[thread_position_in_grid]],
    uint3 in_group [[thread_position_in_threadgroup]],
    uint3 group [[threadgroup_position_in_grid]],
    uint3 grid_threads [[threads_per_grid]],
    uint3 group_threads [[threads_per_threadgroup]],
    uint3 groups [[threadgroups_per_grid]],
    uint tid [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint num_simdgroups [[simdgroups_per_threadgroup]],
    uint simd_width [[threads_per_simdgroup]]) {
  const uint flat = (in_grid.z * grid_threads.y + in_grid.y) * grid_threads.x + in_grid.x;
  device uint* o = out + 16 * flat;
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
)msl",
R"msl(#define MSL_KERNEL_intrinsics_simd_float(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, const uint* from, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_simd_float(in, from, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_intrinsics_simd_uint(BOUNDS) MSL_GLOBAL(BOUNDS)(const uint* in, uint* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_simd_uint(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_intrinsics_positions(BOUNDS) MSL_GLOBAL(BOUNDS)(uint* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); intrinsics_positions(out, msl_builtin<uint3>(msl_thread_position_in_grid()), msl_builtin<uint3>(msl_thread_position_in_threadgroup()), msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint3>(msl_threads_per_grid()), msl_builtin<uint3>(msl_threads_per_threadgroup()), msl_builtin<uint3>(msl_threadgroups_per_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()), msl_builtin<uint>(msl_simdgroups_per_threadgroup()), msl_builtin<uint>(msl_threads_per_simdgroup())); }
#define MSL_ENTRY_intrinsics_simd_float MSL_KERNEL_intrinsics_simd_float((1024))
#define MSL_ENTRY_intrinsics_simd_uint MSL_KERNEL_intrinsics_simd_uint((1024))
#define MSL_ENTRY_intrinsics_positions MSL_KERNEL_intrinsics_positions((1024))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
