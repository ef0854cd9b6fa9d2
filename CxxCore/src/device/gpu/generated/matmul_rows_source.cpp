// The text of matmul_rows.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_rows_source() noexcept {
  return {"matmul_rows",
R"msl(#pragma METAL fp contract(off)
// matmul_rows: converts activations to the bfloats or halfs that the 16-bit, 8-bit and 4-bit kernels read; matmul.h
// describes the layout.
#include "args/matmul.h"
#include "row_source.h"
#include "tiles.h"

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows_bf16(device const float* x [[buffer(0)]],
                               device const float* weight [[buffer(1)]],
                               device const float* gate [[buffer(2)]],
                               device bfloat* out [[buffer(3)]],
                               constant pagoda_args::MatmulRows& args [[buffer(4)]],
                               uint row [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]],
                               uint sg [[simdgroup_index_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  // Only saves work: four elements at a time.
  if (args.is_wide != 0) {
    for (uint first = 0; first < args.cols; first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), first, args.cols, tid, v);
      #pragma unroll
      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        if (i < args.cols) {
          *(device uint2*)(out + long(row) * args.padded_cols + i) =
              uint2(pack_bfloat(v[j].x, v[j].y), pack_bfloat(v[j].z, v[j].w));
        }
      }
    }
  }
  for (uint i = args.is_wide != 0 ? args.padded_cols : tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
}

// The power of two that brings a sum of magnitudes below 2^15: activations are multiplied by it, sums by its inverse.
METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}

// Halfs: no element of a row exceeds the sum of the row's magnitudes. Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows_f16(device const float* x [[buffer(0)]],
                            device const float* weight [[buffer(1)]],
                            device const float* gate [[buffer(2)]],
                            device half* out [[buffer(3)]],
                            device float* scales [[buffer(4)]],
                            constant pagoda_args::MatmulRows& args [[buffer(5)]],
                            uint row [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true);
  }
  for (uint i = tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = half(value * scale);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 3 "Shaders/matmul_rows.metal"
#include "Shaders/args/matmul.h"
#include "Shaders/row_source.h"
#include "Shaders/tiles.h"
# 9 "Shaders/matmul_rows.metal"
MSL_KERNEL void matmul_rows_bf16(MSL_DEVICE const float* x ,
                               MSL_DEVICE const float* weight ,
                               MSL_DEVICE const float* gate ,
                               MSL_DEVICE bfloat* out ,
                               MSL_CONSTANT pagoda_args::MatmulRows& args ,
                               uint row ,
                               uint tid ,
                               uint sg ,
                               uint lane ) {
  MSL_TG_VAR(1, head_scales, [kMostHeads], float)
  MSL_TG_VAR(2, parts, [kRowSimdgroups], float)
  MSL_DEVICE const float* from = x + long(row) * args.x_stride;
  MSL_DEVICE const float* from_gate = gate + long(row) * args.source.gate_stride;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);

  if (args.is_wide != 0) {
    for (uint first = 0; first < args.cols; first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), first, args.cols, tid, v);
#pragma unroll
      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        if (i < args.cols) {
          *(MSL_DEVICE uint2*)(out + long(row) * args.padded_cols + i) =
              uint2(pack_bfloat(v[j].x, v[j].y), pack_bfloat(v[j].z, v[j].w));
        }
      }
    }
  }
  for (uint i = args.is_wide != 0 ? args.padded_cols : tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
}


METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}
# 56 "Shaders/matmul_rows.metal"
MSL_KERNEL void matmul_rows_f16(MSL_DEVICE const float* x ,
                            MSL_DEVICE const float* weight ,
                            MSL_DEVICE const float* gate ,
                            MSL_DEVICE half* out ,
                            MSL_DEVICE float* scales ,
                            MSL_CONSTANT pagoda_args::MatmulRows& args ,
                            uint row ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  MSL_TG_VAR(3, head_scales, [kMostHeads], float)
  MSL_TG_VAR(4, parts, [kRowSimdgroups], float)
  MSL_DEVICE const float* from = x + long(row) * args.x_stride;
  MSL_DEVICE const float* from_gate = gate + long(row) * args.source.gate_stride;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true);
  }
  for (uint i = tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = half(value * scale);
  }
}

# 1 "matmul_rows.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_bf16)
extern "C" __global__ void __launch_bounds__(256) matmul_rows_bf16(const float* x, const float* weight, const float* gate, bfloat* out, const pagoda_args::MatmulRows args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  matmul_rows_bf16(x, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_f16)
extern "C" __global__ void __launch_bounds__(256) matmul_rows_f16(const float* x, const float* weight, const float* gate, half* out, float* scales, const pagoda_args::MatmulRows args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  matmul_rows_f16(x, weight, gate, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
