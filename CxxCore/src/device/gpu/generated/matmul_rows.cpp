// matmul_rows.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/matmul_rows.metal"
#include "device/gpu/generated/args_matmul.h"
#include "device/gpu/generated/row_source.h"
#include "device/gpu/generated/wide_tile.h"


METAL_FUNC ulong row_index(MSL_CONSTANT pagoda_args::MatmulRows& args, uint row, uint i) {
  return args.tile_rows != 0 ? tiled_word(args.tile_rows, row, i / 2) * 2 + i % 2 : ulong(row) * args.padded_cols + i;
}
# 14 "Shaders/matmul_rows.metal"
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
    for (uint first = 0; MSL_LOOP(first < args.cols); first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), first, args.cols, tid, v);

      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        if (i < args.cols) {
          const uint2 words = uint2(pack_bfloat(v[j].x, v[j].y), pack_bfloat(v[j].z, v[j].w));
          if (args.tile_rows != 0) {
            MSL_DEVICE uint* tiled = (MSL_DEVICE uint*)(out);
            tiled[tiled_word(args.tile_rows, row, i / 2)] = words.x;
            tiled[tiled_word(args.tile_rows, row, i / 2 + 1)] = words.y;
          } else {
            *(MSL_DEVICE uint2*)(out + long(row) * args.padded_cols + i) = words;
          }
        }
      }
    }
  }
  for (uint i = args.is_wide != 0 ? args.padded_cols : tid; MSL_LOOP(i < args.padded_cols); i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i);
    }
    out[row_index(args, row, i)] = bfloat(value);
  }
}


METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}
# 67 "Shaders/matmul_rows.metal"
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
  for (uint i = tid; MSL_LOOP(i < args.cols); i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true);
  }
  for (uint i = tid; MSL_LOOP(i < args.padded_cols); i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i);
    }
    out[row_index(args, row, i)] = half(value * scale);
  }
}
# 1 "matmul_rows.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"gate", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(bfloat), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_rows_bf16((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (bfloat*)in.buffers[3], *(const pagoda_args::MatmulRows*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"gate", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(half), true}, {"scales", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_rows_f16((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (half*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::MatmulRows*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_rows_bf16", "matmul_rows", msl_bindings_0, {}, 256, msl_entry_0},
  {"matmul_rows_f16", "matmul_rows", msl_bindings_1, {}, 256, msl_entry_1},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_rows_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
