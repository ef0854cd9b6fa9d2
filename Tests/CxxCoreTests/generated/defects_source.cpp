// The text of defects.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource defects_source() noexcept {
  return {"defects",
R"msl(#pragma METAL fp contract(off)
// Kernels with one planted defect each, which the software device must detect. 128 threads, buffers of 128 numbers.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

kernel void defect_good(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                 uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid] + simd_sum(in[tid]);
}

kernel void defect_oob_read(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                     uint tid [[thread_index_in_threadgroup]]) {
  out[tid] = in[tid + 1];
}

kernel void defect_oob_write(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                      uint tid [[thread_index_in_threadgroup]]) {
  out[tid + 1] = in[tid];
}

kernel void defect_oob_far(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                    uint tid [[thread_index_in_threadgroup]]) {
  out[tid] = in[tid * 64];
}

kernel void defect_oob_threadgroup(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                            uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[127];
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}

kernel void defect_race_no_barrier(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                            uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[127 - tid];
}

kernel void defect_race_in_simdgroup(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                              uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[tid ^ 1];
}

kernel void defect_race_reuse(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                       uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  float sum = 0.0f;
  for (uint i = 0; i < 4; ++i) {
    tile[tid] = in[(tid + i) % 128];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[(tid * 7 + i) % 128];
  }
  out[tid] = sum;
}

kernel void defect_race_wrong_flags(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                             device float* scratch [[buffer(2)]], uint tid [[thread_index_in_threadgroup]]) {
  scratch[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = scratch[127 - tid];
}

kernel void defect_race_groups(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                        uint tid [[thread_index_in_threadgroup]], uint tg [[threadgroup_position_in_grid]]) {
  out[tid] = in[tid] + float(tg);
}

kernel void defect_uninit_threadgroup(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                               uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  if (tid < 64) {
    tile[tid] = in[tid];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}

kernel void defect_uninit_local(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  float acc[4];
  for (uint i = 0; i < 4; ++i) {
    if (in[tid] < 10.0f || i > 0) {
      acc[i] += in[(tid + i) % 128];
    }
  }
  out[tid] = acc[0] + acc[1] + acc[2] + acc[3];
}

kernel void defect_divergent_barrier(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                              uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  tile[tid] = in[tid];
  if (tid < 64) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[tid] = tile[tid];
}

kernel void defect_early_return(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  if (tid >= 100) {
    return;
  }
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[99 - tid];
}

kernel void defect_divergent_simd(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                           uint tid [[thread_index_in_threadgroup]]) {
  float s = 0.0f;
  if (tid % 32 < 16) {
    s = simd_sum(in[tid]);
  }
  out[tid] = s;
}

kernel void defect_two_sites(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                      uint tid [[thread_index_in_threadgroup]]) {
  float s = 0.0f;
  if (tid % 2 == 0) {
    s = simd_sum(in[tid]);
  } else {
    s = simd_sum(in[tid] * 2.0f);
  }
  out[tid] = s;
}

kernel void defect_matrix_pointer(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                           uint tid [[thread_index_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in + tid % 2, 8);
  simdgroup_store(m, out + tid / 32 * 0, 8);
}

kernel void defect_misaligned(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                       uint tid [[thread_index_in_threadgroup]]) {
  const float4 v = *(device const float4*)(in + tid % 100 + 1);
  out[tid] = v.x + v.w;
}

kernel void defect_threadgroup_too_large(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                                  uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float a[4096];
  threadgroup float b[4097];
  a[tid] = in[tid];
  b[tid] = in[tid];
  out[tid] = a[tid] + b[tid];
}

kernel void defect_endless(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                           uint tid [[thread_index_in_threadgroup]]) {
  float v = in[tid];
  while (v > 0.0f) {
    v = v < 1000.0f ? v + 1.0f : 1.0f;
  }
  out[tid] = v;
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Tests/Kernels/defects.metal"
# 1 "Tests/Kernels/defects.metal"

# 3 "Tests/Kernels/defects.metal"
# 4 "Tests/Kernels/defects.metal"



MSL_KERNEL void defect_good(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                 uint tid ) {
  MSL_TG_VAR(1, tile, [128], float)
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid] + simd_sum(in[tid]);
}

MSL_KERNEL void defect_oob_read(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                     uint tid ) {
  out[tid] = in[tid + 1];
}

MSL_KERNEL void defect_oob_write(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                      uint tid ) {
  out[tid + 1] = in[tid];
}

MSL_KERNEL void defect_oob_far(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                    uint tid ) {
  out[tid] = in[tid * 64];
}

MSL_KERNEL void defect_oob_threadgroup(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                            uint tid ) {
  MSL_TG_VAR(2, tile, [127], float)
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}

MSL_KERNEL void defect_race_no_barrier(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                            uint tid ) {
  MSL_TG_VAR(3, tile, [128], float)
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[127 - tid];
}

MSL_KERNEL void defect_race_in_simdgroup(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                              uint tid ) {
  MSL_TG_VAR(4, tile, [128], float)
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[tid ^ 1];
}

MSL_KERNEL void defect_race_reuse(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                       uint tid ) {
  MSL_TG_VAR(5, tile, [128], float)
  float sum = 0.0f;
  for (uint i = 0; i < 4; ++i) {
    tile[tid] = in[(tid + i) % 128];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[(tid * 7 + i) % 128];
  }
  out[tid] = sum;
}

MSL_KERNEL void defect_race_wrong_flags(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                             MSL_DEVICE float* scratch , uint tid ) {
  scratch[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = scratch[127 - tid];
}

MSL_KERNEL void defect_race_groups(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                        uint tid , uint tg ) {
  out[tid] = in[tid] + float(tg);
}

MSL_KERNEL void defect_uninit_threadgroup(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                               uint tid ) {
  MSL_TG_VAR(6, tile, [128], float)
  if (tid < 64) {
    tile[tid] = in[tid];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}

MSL_KERNEL void defect_uninit_local(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                         uint tid ) {
  float acc[4];
  for (uint i = 0; i < 4; ++i) {
    if (in[tid] < 10.0f || i > 0) {
      acc[i] += in[(tid + i) % 128];
    }
  }
  out[tid] = acc[0] + acc[1] + acc[2] + acc[3];
}

MSL_KERNEL void defect_divergent_barrier(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                              uint tid ) {
  MSL_TG_VAR(7, tile, [128], float)
  tile[tid] = in[tid];
  if (tid < 64) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[tid] = tile[tid];
}

MSL_KERNEL void defect_early_return(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                         uint tid ) {
  MSL_TG_VAR(8, tile, [128], float)
  if (tid >= 100) {
    return;
  }
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[99 - tid];
}

MSL_KERNEL void defect_divergent_simd(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                           uint tid ) {
  float s = 0.0f;
  if (tid % 32 < 16) {
    s = simd_sum(in[tid]);
  }
  out[tid] = s;
}

MSL_KERNEL void defect_two_sites(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                      uint tid ) {
  float s = 0.0f;
  if (tid % 2 == 0) {
    s = simd_sum(in[tid]);
  } else {
    s = simd_sum(in[tid] * 2.0f);
  }
  out[tid] = s;
}

MSL_KERNEL void defect_matrix_pointer(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                           uint tid ) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in + tid % 2, 8);
  simdgroup_store(m, out + tid / 32 * 0, 8);
}

MSL_KERNEL void defect_misaligned(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                       uint tid ) {
  const float4 v = *(MSL_DEVICE const float4*)(in + tid % 100 + 1);
  out[tid] = v.x + v.w;
}

MSL_KERNEL void defect_threadgroup_too_large(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                                  uint tid ) {
  MSL_TG_VAR(9, a, [4096], float)
  MSL_TG_VAR(10, b, [4097], float)
  a[tid] = in[tid];
  b[tid] = in[tid];
  out[tid] = a[tid] + b[tid];
}

MSL_KERNEL void defect_endless(MSL_DEVICE const float* in , MSL_DEVICE float* out ,
                           uint tid ) {
  float v = in[tid];
  while (v > 0.0f) {
    v = v < 1000.0f ? v + 1.0f : 1.0f;
  }
  out[tid] = v;
}


# 1 "defects.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_good)
extern "C" __global__ void __launch_bounds__(1024) defect_good(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_good(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_oob_read)
extern "C" __global__ void __launch_bounds__(1024) defect_oob_read(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_oob_read(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_oob_write)
extern "C" __global__ void __launch_bounds__(1024) defect_oob_write(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_oob_write(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_oob_far)
extern "C" __global__ void __launch_bounds__(1024) defect_oob_far(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_oob_far(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_oob_threadgroup)
extern "C" __global__ void __launch_bounds__(1024) defect_oob_threadgroup(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_oob_threadgroup(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_race_no_barrier)
extern "C" __global__ void __launch_bounds__(1024) defect_race_no_barrier(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_race_no_barrier(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_race_in_simdgroup)
extern "C" __global__ void __launch_bounds__(1024) defect_race_in_simdgroup(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_race_in_simdgroup(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_race_reuse)
extern "C" __global__ void __launch_bounds__(1024) defect_race_reuse(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_race_reuse(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_race_wrong_flags)
extern "C" __global__ void __launch_bounds__(1024) defect_race_wrong_flags(const float* in, float* out, float* scratch) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_race_wrong_flags(in, out, scratch, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_race_groups)
extern "C" __global__ void __launch_bounds__(1024) defect_race_groups(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_race_groups(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threadgroup_position_in_grid()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_uninit_threadgroup)
extern "C" __global__ void __launch_bounds__(1024) defect_uninit_threadgroup(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_uninit_threadgroup(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_uninit_local)
extern "C" __global__ void __launch_bounds__(1024) defect_uninit_local(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_uninit_local(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_divergent_barrier)
extern "C" __global__ void __launch_bounds__(1024) defect_divergent_barrier(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_divergent_barrier(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_early_return)
extern "C" __global__ void __launch_bounds__(1024) defect_early_return(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_early_return(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_divergent_simd)
extern "C" __global__ void __launch_bounds__(1024) defect_divergent_simd(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_divergent_simd(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_two_sites)
extern "C" __global__ void __launch_bounds__(1024) defect_two_sites(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_two_sites(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_matrix_pointer)
extern "C" __global__ void __launch_bounds__(1024) defect_matrix_pointer(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_matrix_pointer(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_misaligned)
extern "C" __global__ void __launch_bounds__(1024) defect_misaligned(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_misaligned(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_threadgroup_too_large)
extern "C" __global__ void __launch_bounds__(1024) defect_threadgroup_too_large(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_threadgroup_too_large(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_defect_endless)
extern "C" __global__ void __launch_bounds__(1024) defect_endless(const float* in, float* out) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  defect_endless(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
