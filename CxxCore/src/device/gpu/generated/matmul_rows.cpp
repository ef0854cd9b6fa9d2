// matmul_rows.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/matmul_rows.metal"
# 1 "Shaders/matmul_rows.metal"

# 1 "Shaders/args/matmul.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/matmul.h"

namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint block;
  uint reserved;
};
static_assert(sizeof(MatmulRows) == 24, "host and kernel agree");

struct Matmul {
  long x_stride;
  long out_stride;
  uint rows;
  uint cols;
  uint out_cols;
  uint padded_cols;
  uint run;
  uint has_bias;
  uint silu_mul;
  uint reserved;
};
static_assert(sizeof(Matmul) == 48, "host and kernel agree");

}
# 3 "Shaders/matmul_rows.metal"
# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {

  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < num_simdgroups); ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; MSL_LOOP(stride < block); stride *= 2) {
    for (uint i = tid; MSL_LOOP(i < block / 2); i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {

  for (uint j = 0; j < C; ++j) {








    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }

  }
}
# 4 "Shaders/matmul_rows.metal"



MSL_KERNEL void matmul_rows_bf16(MSL_DEVICE const float* x ,
                               MSL_DEVICE bfloat* out ,
                               MSL_DEVICE float* scales ,
                               MSL_CONSTANT pagoda_args::MatmulRows& args ,
                               uint row ,
                               uint tid ) {
  for (uint i = tid; MSL_LOOP(i < args.padded_cols); i += 128) {
    float value = 0.0f;
    if (i < args.cols) {
      value = x[long(row) * args.x_stride + i];
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
                             MSL_DEVICE half* out ,
                             MSL_DEVICE float* scales ,
                             MSL_CONSTANT pagoda_args::MatmulRows& args ,
                             uint row ,
                             uint tid ,
                             uint sg ,
                             uint lane ) {
  MSL_TG_VAR(1, tile, [ROTATED?4096:128], float)
  MSL_TG_VAR(2, parts, [4], float)
  MSL_DEVICE const float* from = x + long(row) * args.x_stride;
  MSL_DEVICE half* to = out + long(row) * args.padded_cols;
  float magnitudes = 0.0f;
  for (uint i = tid; MSL_LOOP(i < args.cols); i += 128) {
    magnitudes += abs(from[i]);
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, 4);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);
  }
  const uint block = ROTATED ? args.block : 128;
  for (uint first = 0; MSL_LOOP(first < args.padded_cols); first += block) {
    for (uint i = tid; MSL_LOOP(i < block); i += 128) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = from[first + i] * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, 128);
    }
    for (uint i = tid; MSL_LOOP(i < block && first + i < args.padded_cols); i += 128) {
      to[first + i] = half(tile[i]);
    }
  }
}





# 1 "matmul_rows.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows_bf16((const float*)in.buffers[0], (bfloat*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::MatmulRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(bfloat), true}, {"scales", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows<false>((const float*)in.buffers[0], (half*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::MatmulRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(half), true}, {"scales", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows<true>((const float*)in.buffers[0], (half*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::MatmulRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(half), true}, {"scales", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_2 = 128;
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
