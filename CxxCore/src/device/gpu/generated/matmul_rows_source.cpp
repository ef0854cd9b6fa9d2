// The text of matmul_rows.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_rows_source() noexcept {
  return {"matmul_rows",
R"msl(#pragma METAL fp contract(off)
// matmul_rows: activations as the kernels of 16, 8 and 4 bits take them; matmul.h has the layout.
#include "args/matmul.h"
#include "row_source.h"

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows_bf16(device const float* x [[buffer(0)]],
                               device const float* weight [[buffer(1)]],
                               device const float* gate [[buffer(2)]],
                               device bfloat* out [[buffer(3)]],
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
  for (uint i = tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
  if (tid == 0) {
    scales[row] = 1.0f;
  }
}

// The power of two that brings a sum of magnitudes below 2^15 goes to the activations, its inverse to the sums.
METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}

// A row's elements after rotation are no larger than the sum of magnitudes of the row. Grid: [rows]
template <bool ROTATED>
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows(device const float* x [[buffer(0)]],
                             device const float* weight [[buffer(1)]],
                             device const float* gate [[buffer(2)]],
                             device half* out [[buffer(3)]],
                             device float* scales [[buffer(4)]],
                             constant pagoda_args::MatmulRows& args [[buffer(5)]],
                             uint row [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[ROTATED ? 4096 : kRowThreads];
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  device half* to = out + long(row) * args.padded_cols;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);  // rotated twice: times block
  }
  const uint block = ROTATED ? args.block : kRowThreads;
  for (uint first = 0; first < args.padded_cols; first += block) {
    for (uint i = tid; i < block; i += kRowThreads) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales),
                              first + i) * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, kRowThreads);
    }
    for (uint i = tid; i < block && first + i < args.padded_cols; i += kRowThreads) {
      to[first + i] = half(tile[i]);  // the thread's own elements: the next block may overwrite them
    }
  }
}

template [[host_name("matmul_rows_f16")]] kernel decltype(matmul_rows<false>) matmul_rows<false>;
template [[host_name("matmul_rows_rotated")]] kernel decltype(matmul_rows<true>) matmul_rows<true>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/matmul_rows.metal"
#include "Shaders/args/matmul.h"
#include "Shaders/row_source.h"
# 7 "Shaders/matmul_rows.metal"
MSL_KERNEL void matmul_rows_bf16(MSL_DEVICE const float* x ,
                               MSL_DEVICE const float* weight ,
                               MSL_DEVICE const float* gate ,
                               MSL_DEVICE bfloat* out ,
                               MSL_DEVICE float* scales ,
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
  for (uint i = tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
  if (tid == 0) {
    scales[row] = 1.0f;
  }
}


METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}


template <bool ROTATED>

MSL_KERNEL void matmul_rows(MSL_DEVICE const float* x ,
                             MSL_DEVICE const float* weight ,
                             MSL_DEVICE const float* gate ,
                             MSL_DEVICE half* out ,
                             MSL_DEVICE float* scales ,
                             MSL_CONSTANT pagoda_args::MatmulRows& args ,
                             uint row ,
                             uint tid ,
                             uint sg ,
                             uint lane ) {
  MSL_TG_VAR(3, tile, [ROTATED?4096:kRowThreads], float)
  MSL_TG_VAR(4, head_scales, [kMostHeads], float)
  MSL_TG_VAR(5, parts, [kRowSimdgroups], float)
  MSL_DEVICE const float* from = x + long(row) * args.x_stride;
  MSL_DEVICE const float* from_gate = gate + long(row) * args.source.gate_stride;
  MSL_DEVICE half* to = out + long(row) * args.padded_cols;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);
  }
  const uint block = ROTATED ? args.block : kRowThreads;
  for (uint first = 0; first < args.padded_cols; first += block) {
    for (uint i = tid; i < block; i += kRowThreads) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales),
                              first + i) * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, kRowThreads);
    }
    for (uint i = tid; i < block && first + i < args.padded_cols; i += kRowThreads) {
      to[first + i] = half(tile[i]);
    }
  }
}

# 1 "matmul_rows.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_bf16)
extern "C" __global__ void __launch_bounds__(256) matmul_rows_bf16(const float* x, const float* weight, const float* gate, bfloat* out, float* scales, const pagoda_args::MatmulRows args) {
  matmul_rows_bf16(x, weight, gate, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_f16)
extern "C" __global__ void __launch_bounds__(256) matmul_rows_f16(const float* x, const float* weight, const float* gate, half* out, float* scales, const pagoda_args::MatmulRows args) {
  matmul_rows<false>(x, weight, gate, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_rotated)
extern "C" __global__ void __launch_bounds__(256) matmul_rows_rotated(const float* x, const float* weight, const float* gate, half* out, float* scales, const pagoda_args::MatmulRows args) {
  matmul_rows<true>(x, weight, gate, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
