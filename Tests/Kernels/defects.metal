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
