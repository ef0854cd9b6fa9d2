// The text of defects.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource defects_source() noexcept {
  return {"defects",
R"msl(#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;
kernel void defect_good(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                 uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED float tile[128];
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
  MSL_SHARED float tile[127];
  tile[tid] = in[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid] = tile[127 - tid];
}
kernel void defect_race_no_barrier(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                            uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED float tile[128];
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[127 - tid];
}
kernel void defect_race_in_simdgroup(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                              uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED float tile[128];
  tile[tid] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[tid] = in[tid];
  out[tid] = tile[tid ^ 1];
}
kernel void defect_race_reuse(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                       uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED float tile[128];
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
  MSL_SHARED float tile[128];
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
  MSL_SHARED float tile[128];
  tile[tid] = in[tid];
  if (tid < 64) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[tid] = tile[tid];
}
kernel void defect_early_return(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  MSL_SHARED float tile[128];
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
  MSL_SHARED float a[4096];
  MSL_SHARED float b[4097];
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
R"msl(#define MSL_KERNEL_defect_good(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_good(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_oob_read(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_oob_read(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_oob_write(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_oob_write(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_oob_far(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_oob_far(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_oob_threadgroup(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_oob_threadgroup(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_race_no_barrier(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_race_no_barrier(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_race_in_simdgroup(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_race_in_simdgroup(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_race_reuse(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_race_reuse(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_race_wrong_flags(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out, float* scratch) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_race_wrong_flags(in, out, scratch, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_race_groups(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_race_groups(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threadgroup_position_in_grid())); }
#define MSL_KERNEL_defect_uninit_threadgroup(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_uninit_threadgroup(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_uninit_local(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_uninit_local(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_divergent_barrier(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_divergent_barrier(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_early_return(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_early_return(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_divergent_simd(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_divergent_simd(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_two_sites(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_two_sites(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_matrix_pointer(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_matrix_pointer(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_misaligned(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_misaligned(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_threadgroup_too_large(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_threadgroup_too_large(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_defect_endless(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* in, float* out) { msl_let_dependents_begin(); msl_wait_for_inputs(); defect_endless(in, out, msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_defect_good MSL_KERNEL_defect_good((1024))
#define MSL_ENTRY_defect_oob_read MSL_KERNEL_defect_oob_read((1024))
#define MSL_ENTRY_defect_oob_write MSL_KERNEL_defect_oob_write((1024))
#define MSL_ENTRY_defect_oob_far MSL_KERNEL_defect_oob_far((1024))
#define MSL_ENTRY_defect_oob_threadgroup MSL_KERNEL_defect_oob_threadgroup((1024))
#define MSL_ENTRY_defect_race_no_barrier MSL_KERNEL_defect_race_no_barrier((1024))
#define MSL_ENTRY_defect_race_in_simdgroup MSL_KERNEL_defect_race_in_simdgroup((1024))
#define MSL_ENTRY_defect_race_reuse MSL_KERNEL_defect_race_reuse((1024))
#define MSL_ENTRY_defect_race_wrong_flags MSL_KERNEL_defect_race_wrong_flags((1024))
#define MSL_ENTRY_defect_race_groups MSL_KERNEL_defect_race_groups((1024))
#define MSL_ENTRY_defect_uninit_threadgroup MSL_KERNEL_defect_uninit_threadgroup((1024))
#define MSL_ENTRY_defect_uninit_local MSL_KERNEL_defect_uninit_local((1024))
#define MSL_ENTRY_defect_divergent_barrier MSL_KERNEL_defect_divergent_barrier((1024))
#define MSL_ENTRY_defect_early_return MSL_KERNEL_defect_early_return((1024))
#define MSL_ENTRY_defect_divergent_simd MSL_KERNEL_defect_divergent_simd((1024))
#define MSL_ENTRY_defect_two_sites MSL_KERNEL_defect_two_sites((1024))
#define MSL_ENTRY_defect_matrix_pointer MSL_KERNEL_defect_matrix_pointer((1024))
#define MSL_ENTRY_defect_misaligned MSL_KERNEL_defect_misaligned((1024))
#define MSL_ENTRY_defect_threadgroup_too_large MSL_KERNEL_defect_threadgroup_too_large((1024))
#define MSL_ENTRY_defect_endless MSL_KERNEL_defect_endless((1024))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
