// matmul_rows.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/matmul_rows.metal"
#include "device/gpu/generated/args_matmul.h"
#include "device/gpu/generated/row_source.h"
#include "device/gpu/generated/tiles.h"
# 8 "Shaders/matmul_rows.metal"
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

  if (args.is_wide != 0) {
    for (uint first = 0; MSL_LOOP(first < args.cols); first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), first, args.cols, tid, v);

      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        if (i < args.cols) {
          *(MSL_DEVICE uint2*)(out + long(row) * args.padded_cols + i) =
              uint2(pack_bfloat(v[j].x, v[j].y), pack_bfloat(v[j].z, v[j].w));
        }
      }
    }
  }
  for (uint i = args.is_wide != 0 ? args.padded_cols : tid; MSL_LOOP(i < args.padded_cols); i += kRowThreads) {
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

MSL_CONSTANT constexpr uint kRotated = 4096;
MSL_CONSTANT constexpr uint kOwn = 8;
# 63 "Shaders/matmul_rows.metal"
METAL_FUNC void rotate_blocks(MSL_THREADGROUP float* tile, uint size, uint block, float scale, uint tid, uint lane) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint first = 0; MSL_LOOP(first < size); first += kOwn * kRowThreads) {
    const uint at = first + kOwn * tid;
    float v[kOwn];

    for (uint i = 0; i < kOwn; ++i) {
      v[i] = 0.0f;
      if (at + i < size) {
        v[i] = tile[at + i] * scale;
      }
    }

    for (uint stride = 1; stride < kOwn; stride *= 2) {

      for (uint i = 0; i < kOwn; ++i) {
        if ((i & stride) == 0) {
          const float a = v[i];
          const float b = v[i + stride];
          v[i] = a + b;
          v[i + stride] = a - b;
        }
      }
    }
    const uint lanes = block < 32 * kOwn ? block / kOwn : 32;

    for (uint apart = 1; apart < lanes; apart *= 2) {
      const float sign = (lane & apart) == 0 ? 1.0f : -1.0f;

      for (uint i = 0; i < kOwn; ++i) {
        v[i] = fma(v[i], sign, simd_shuffle_xor(v[i], ushort(apart)));
      }
    }

    for (uint i = 0; i < kOwn; ++i) {

      if (at + i < size) {
        tile[at + i] = v[i];
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 32 * kOwn; MSL_LOOP(stride < block); stride *= 2) {
    for (uint i = tid; MSL_LOOP(i < size / 2); i += kRowThreads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
  }
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
  MSL_TG_VAR(3, tile, [ROTATED?kRotated:kRowThreads], float)
  MSL_TG_VAR(4, head_scales, [kMostHeads], float)
  MSL_TG_VAR(5, parts, [kRowSimdgroups], float)
  MSL_DEVICE const float* from = x + long(row) * args.x_stride;
  MSL_DEVICE const float* from_gate = gate + long(row) * args.source.gate_stride;
  MSL_DEVICE half* to = out + long(row) * args.padded_cols;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  const uint block = ROTATED ? args.block : kRowThreads;
  const uint span = ROTATED ? kRotated / block * block : block;
  const bool is_whole = args.padded_cols <= span;
  const bool is_quick = ROTATED && is_whole && args.is_wide != 0;
  float magnitudes = 0.0f;

  if (is_quick) {
    for (uint first = 0; MSL_LOOP(first < args.cols); first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), first, args.cols, tid, v);

      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;

        if (i < args.cols) {
          *(MSL_THREADGROUP float4*)(tile + i) = v[j];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; MSL_LOOP(i < args.cols); i += kRowThreads) {
      magnitudes += abs(tile[i]);
    }
  }
  for (uint i = is_quick ? args.padded_cols : tid; MSL_LOOP(i < args.padded_cols); i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), i);
    }
    magnitudes += abs(value);
    if (is_whole) {
      tile[i] = value;
    }
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);
  }
  for (uint first = 0; MSL_LOOP(first < args.padded_cols); first += span) {
    for (uint i = tid; MSL_LOOP(i < span && !is_whole); i += kRowThreads) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = row_element(from, weight, from_gate, args.source, (MSL_THREADGROUP const float*)(head_scales), first + i);
      }
    }
    if (ROTATED) {
      rotate_blocks(tile, min(span, args.padded_cols - first), block, scale, tid, lane);
    }
    for (uint i = tid; MSL_LOOP(i < span && first + i < args.padded_cols); i += kRowThreads) {
      to[first + i] = half(ROTATED ? tile[i] : tile[i] * scale);
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
