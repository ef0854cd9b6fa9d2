// matmul_rows.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/matmul_rows.metal"
#include "device/gpu/generated/args_matmul.h"
#include "device/gpu/generated/row_source.h"
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
  for (uint i = tid; MSL_LOOP(i < args.padded_cols); i += kRowThreads) {
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
  for (uint i = tid; MSL_LOOP(i < args.cols); i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);
  }
  const uint block = ROTATED ? args.block : kRowThreads;
  for (uint first = 0; MSL_LOOP(first < args.padded_cols); first += block) {
    for (uint i = tid; MSL_LOOP(i < block); i += kRowThreads) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales),
                              first + i) * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, kRowThreads);
    }
    for (uint i = tid; MSL_LOOP(i < block && first + i < args.padded_cols); i += kRowThreads) {
      to[first + i] = half(tile[i]);
    }
  }
}

# 1 "matmul_rows.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows_bf16((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (bfloat*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::MatmulRows*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"gate", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(bfloat), true}, {"scales", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_0 = 256;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows<false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (half*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::MatmulRows*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"gate", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(half), true}, {"scales", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_1 = 256;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows<true>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (half*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::MatmulRows*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"gate", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(half), true}, {"scales", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_2 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_rows_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"matmul_rows_bf16", "matmul_rows", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"matmul_rows_f16", "matmul_rows", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"matmul_rows_rotated", "matmul_rows", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
