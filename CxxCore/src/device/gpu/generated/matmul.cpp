// matmul.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/matmul.metal"
# 1 "Shaders/matmul.metal"
# 14 "Shaders/matmul.metal"
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
#pragma unroll
  for (uint j = 0; j < C; ++j) {







#pragma unroll
    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }

  }
}
# 15 "Shaders/matmul.metal"
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
  uint quarter;
  uint has_bias;
  uint silu_mul;
  uint reserved;
};
static_assert(sizeof(Matmul) == 48, "host and kernel agree");

}
# 16 "Shaders/matmul.metal"

MSL_CONSTANT constexpr uint kQuarters = 4;



MSL_KERNEL void matmul_rows_bfloat(MSL_DEVICE const float* x ,
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
    scales[row] = power_below(magnitudes, true);
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
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}





template <typename T, uint BITS>
METAL_FUNC void stage_weights(MSL_DEVICE const uint* w, MSL_DEVICE const uchar* steps, ulong at, MSL_THREADGROUP T* to) {
  if (BITS == 16) {
    MSL_DEVICE const vec<T, 4>* from = (MSL_DEVICE const vec<T, 4>*)(w + at / 2);
    *(MSL_THREADGROUP vec<T, 4>*)(to) = from[0];
    *(MSL_THREADGROUP vec<T, 4>*)(to + 4) = from[1];
  } else if (BITS == 8) {
    const uint low = w[at / 4];
    const uint high = w[at / 4 + 1];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      to[i] = T(signed_byte(low, i));
      to[4 + i] = T(signed_byte(high, i));
    }
  } else {
    const uint word = w[at / 8];
    const uint step = steps[at / 32 * 2];
    const uint offset = steps[at / 32 * 2 + 1];
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
      to[i] = T(stepped_nibble(word, i, step, offset));
    }
  }
}

METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}


METAL_FUNC uint half_row(MSL_CONSTANT pagoda_args::Matmul& args, uint tile, uint which, uint half_rows) {
  if (args.silu_mul != 0) {
    return tile * half_rows + which * args.out_cols;
  }
  return (2 * tile + which) * half_rows;
}


template <typename T, uint BITS, uint MT>

MSL_KERNEL void matmul_few(MSL_DEVICE const T* x ,
                       MSL_DEVICE const float* x_scales ,
                       MSL_DEVICE const uint* w ,
                       MSL_DEVICE const uchar* w_steps ,
                       MSL_DEVICE const float* w_scales ,
                       MSL_DEVICE const float* bias ,
                       MSL_DEVICE float* out ,
                       MSL_CONSTANT pagoda_args::Matmul& args ,
                       uint tg ,
                       uint tid ,
                       uint sg ,
                       uint lane ) {
  constexpr uint BK = 64;
  constexpr uint LD = BK + 8;
  constexpr uint WIDTH = 8 * MT;
  MSL_TG_VAR(3, w_tile, [kQuarters*16*LD], T)
  MSL_TG_VAR(4, parts, [kQuarters*16*WIDTH], float)

  const uint row[2] = {half_row(args, tg, 0, 8), half_row(args, tg, 1, 8)};
  simdgroup_matrix<float, 8, 8> acc[2][MT];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint j = 0; j < MT; ++j) {
      acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  MSL_THREADGROUP T* tile = w_tile + sg * 16 * LD;
  const uint end = min((sg + 1) * args.quarter, args.padded_cols);
  for (uint k0 = sg * args.quarter; MSL_LOOP(k0 < end); k0 += BK) {
    const uint cols = min(BK, end - k0);
#pragma unroll
    for (uint i = 0; i < 16 * BK / 8 / 32; ++i) {
      const uint r = (i * 32 + lane) / (BK / 8);
      const uint k = (i * 32 + lane) % (BK / 8) * 8;
      if (k < cols) {
        const ulong at = ulong(row[r / 8] + r % 8) * args.padded_cols + k0 + k;
        stage_weights<T, BITS>(w, w_steps, at, tile + r * LD + k);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; MSL_LOOP(k < cols); k += 8) {
      simdgroup_matrix<T, 8, 8> w_mat[2];
      simdgroup_matrix<T, 8, 8> x_mat[MT];
      simdgroup_load(w_mat[0], tile + k, LD);
      simdgroup_load(w_mat[1], tile + 8 * LD + k, LD);
#pragma unroll
      for (uint j = 0; j < MT; ++j) {
        simdgroup_load(x_mat[j], x + ulong(8 * j) * args.padded_cols + k0 + k, args.padded_cols, ulong2(0, 0), true);
      }
      tile_multiply_accumulate<T, 2, MT>(acc, w_mat, x_mat);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint j = 0; j < MT; ++j) {
      simdgroup_store(acc[i][j], parts + (sg * 16 + 8 * i) * WIDTH + 8 * j, WIDTH);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = tid; MSL_LOOP(i < 8 * WIDTH); i += 128) {
    const uint n = i / WIDTH;
    const uint m = i % WIDTH;
    float value[2];
#pragma unroll
    for (uint half_index = 0; half_index < 2; ++half_index) {
      float sum = 0.0f;
      for (uint q = 0; MSL_LOOP(q < kQuarters); ++q) {
        sum += parts[(q * 16 + half_index * 8 + n) * WIDTH + m];
      }
      const uint at = row[half_index] + n;
      value[half_index] = sum;
      if (m < args.rows && row[0] + n < args.out_cols && (args.silu_mul != 0 || at < args.out_cols)) {
        const float w_scale = BITS == 16 ? 1.0f : w_scales[at];
        value[half_index] = finish(sum, x_scales[m], w_scale, args.has_bias != 0 ? bias[at] : 0.0f);
        if (args.silu_mul == 0) {
          out[long(m) * args.out_stride + at] = value[half_index];
        }
      }
    }
    if (args.silu_mul != 0 && m < args.rows && row[0] + n < args.out_cols) {
      out[long(m) * args.out_stride + row[0] + n] = silu(value[0]) * value[1];
    }
  }
}


template <typename T, uint BITS>

MSL_KERNEL void matmul_tiles(MSL_DEVICE const T* x ,
                         MSL_DEVICE const float* x_scales ,
                         MSL_DEVICE const uint* w ,
                         MSL_DEVICE const uchar* w_steps ,
                         MSL_DEVICE const float* w_scales ,
                         MSL_DEVICE const float* bias ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::Matmul& args ,
                         uint2 tg ,
                         uint tid ,
                         uint sg ) {
  constexpr uint BM = 64;
  constexpr uint BN = 64;
  constexpr uint BK = 32;
  constexpr uint LD = BK + 8;
  constexpr uint LDC = BM + 4;
  constexpr uint EACH = BM * BN / 128;
  MSL_TG_VAR(5, w_tile, [BN*LD], T)
  MSL_TG_VAR(6, x_tile, [BM*LD], T)
  MSL_TG_VAR(7, c_tile, [BN*LDC], float)

  const uint row[2] = {half_row(args, tg.x, 0, BN / 2), half_row(args, tg.x, 1, BN / 2)};
  const uint m0 = tg.y * BM;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;
  float total[EACH];
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
  for (uint q = 0; MSL_LOOP(q < kQuarters); ++q) {
    simdgroup_matrix<float, 8, 8> acc[4][4];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
        acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }
    const uint end = min((q + 1) * args.quarter, args.padded_cols);
    for (uint k0 = q * args.quarter; MSL_LOOP(k0 < end); k0 += BK) {
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
        const uint r = (i * 128 + tid) / (BK / 8);
        const uint k = (i * 128 + tid) % (BK / 8) * 8;
        const ulong at = ulong(row[r / (BN / 2)] + r % (BN / 2)) * args.padded_cols + k0 + k;
        stage_weights<T, BITS>(w, w_steps, at, w_tile + r * LD + k);
        MSL_DEVICE const vec<T, 4>* from = (MSL_DEVICE const vec<T, 4>*)(x + ulong(m0 + r) * args.padded_cols + k0 + k);
        *(MSL_THREADGROUP vec<T, 4>*)(x_tile + r * LD + k) = from[0];
        *(MSL_THREADGROUP vec<T, 4>*)(x_tile + r * LD + k + 4) = from[1];
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
      for (uint k = 0; k < BK; k += 8) {
        simdgroup_matrix<T, 8, 8> w_mat[4];
        simdgroup_matrix<T, 8, 8> x_mat[4];
#pragma unroll
        for (uint i = 0; i < 4; ++i) {
          simdgroup_load(w_mat[i], w_tile + (sg_n + i * 8) * LD + k, LD);
          simdgroup_load(x_mat[i], x_tile + (sg_m + i * 8) * LD + k, LD, ulong2(0, 0), true);
        }
        tile_multiply_accumulate<T, 4, 4>(acc, w_mat, x_mat);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
        simdgroup_store(acc[i][j], c_tile + (sg_n + i * 8) * LDC + sg_m + j * 8, LDC);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint at = i * 128 + tid;
      total[i] += c_tile[at % BN * LDC + at / BN];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }


  const uint n = tid % BN;
  const uint at = row[n / (BN / 2)] + n % (BN / 2);
  const bool is_inside = args.silu_mul != 0 ? row[0] + n % (BN / 2) < args.out_cols : at < args.out_cols;
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint m = m0 + (i * 128 + tid) / BN;
    if (is_inside && m < args.rows) {
      const float value =
          finish(total[i], x_scales[m], BITS == 16 ? 1.0f : w_scales[at], args.has_bias != 0 ? bias[at] : 0.0f);
      if (args.silu_mul == 0) {
        out[long(m) * args.out_stride + at] = value;
      } else {
        c_tile[n * LDC + m - m0] = value;
      }
    }
  }
  if (args.silu_mul != 0) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; MSL_LOOP(i < BM * BN / 2); i += 128) {
      const uint gate = i % (BN / 2);
      const uint m = i / (BN / 2);
      if (m0 + m < args.rows && row[0] + gate < args.out_cols) {
        out[long(m0 + m) * args.out_stride + row[0] + gate] =
            silu(c_tile[gate * LDC + m]) * c_tile[(BN / 2 + gate) * LDC + m];
      }
    }
  }
}






  
  
  
  


METAL_FUNC float lane_product(MSL_DEVICE const float* x, MSL_DEVICE const float* w, uint cols, uint lane) {
  float sum = 0.0f;
  for (uint k = lane; MSL_LOOP(k < cols); k += 32) {
    sum = fma(x[k], w[k], sum);
  }
  return simd_sum(sum);
}



MSL_KERNEL void matmul_float(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* w ,
                         MSL_DEVICE const float* bias ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::Matmul& args ,
                         uint2 tg ,
                         uint sg ,
                         uint lane ) {
  const uint n = tg.x * 4 + sg;
  if (n >= args.out_cols) {
    return;
  }
  MSL_DEVICE const float* w_row = w + ulong(n) * args.padded_cols;
  const float w_bias = args.has_bias != 0 ? bias[n] : 0.0f;
  for (uint m = tg.y * 8; MSL_LOOP(m < min(args.rows, tg.y * 8 + 8)); ++m) {
    MSL_DEVICE const float* x_row = x + long(m) * args.x_stride;
    float value = finish(lane_product(x_row, w_row, args.cols, lane), 1.0f, 1.0f, w_bias);
    if (args.silu_mul != 0) {
      const uint other = n + args.out_cols;
      const float product = lane_product(x_row, w + ulong(other) * args.padded_cols, args.cols, lane);
      value = silu(value) * finish(product, 1.0f, 1.0f, args.has_bias != 0 ? bias[other] : 0.0f);
    }
    if (lane == 0) {
      out[long(m) * args.out_stride + n] = value;
    }
  }
}


# 1 "matmul.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows_bfloat((const float*)in.buffers[0], (bfloat*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::MatmulRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(bfloat), true}, {"scales", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_float((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::Matmul*)in.buffers[4], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"w", 1, BindingKind::buffer, sizeof(float), false}, {"bias", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows<false>((const float*)in.buffers[0], (half*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::MatmulRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(half), true}, {"scales", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_2 = 128;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_rows<true>((const float*)in.buffers[0], (half*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::MatmulRows*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(half), true}, {"scales", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::MatmulRows), false}};
constexpr uint32_t msl_limit_3 = 128;
void msl_entry_4(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, 16, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_4[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_4 = 128;
void msl_entry_5(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, 16, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_5[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_5 = 128;
void msl_entry_6(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 16>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_6[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_6 = 128;
void msl_entry_7(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, 16, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_7[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_7 = 128;
void msl_entry_8(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, 16, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_8[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_8 = 128;
void msl_entry_9(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<bfloat, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_9[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_9 = 128;
void msl_entry_10(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, 8, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_10[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_10 = 128;
void msl_entry_11(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, 8, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_11[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_11 = 128;
void msl_entry_12(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_12[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_12 = 128;
void msl_entry_13(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, 4, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_13[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_13 = 128;
void msl_entry_14(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, 4, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_14[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_14 = 128;
void msl_entry_15(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const uchar*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_15[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(uchar), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_15 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"matmul_rows_bfloat", "matmul", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"matmul_float", "matmul", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"matmul_rows_half", "matmul", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
    {"matmul_rows_rotated", "matmul", metal::msl_bindings_3, {}, metal::msl_limit_3, metal::msl_entry_3},
    {"matmul_few_half_1", "matmul", metal::msl_bindings_4, {}, metal::msl_limit_4, metal::msl_entry_4},
    {"matmul_few_half_2", "matmul", metal::msl_bindings_5, {}, metal::msl_limit_5, metal::msl_entry_5},
    {"matmul_tiles_half", "matmul", metal::msl_bindings_6, {}, metal::msl_limit_6, metal::msl_entry_6},
    {"matmul_few_bfloat_1", "matmul", metal::msl_bindings_7, {}, metal::msl_limit_7, metal::msl_entry_7},
    {"matmul_few_bfloat_2", "matmul", metal::msl_bindings_8, {}, metal::msl_limit_8, metal::msl_entry_8},
    {"matmul_tiles_bfloat", "matmul", metal::msl_bindings_9, {}, metal::msl_limit_9, metal::msl_entry_9},
    {"matmul_few_8bit_1", "matmul", metal::msl_bindings_10, {}, metal::msl_limit_10, metal::msl_entry_10},
    {"matmul_few_8bit_2", "matmul", metal::msl_bindings_11, {}, metal::msl_limit_11, metal::msl_entry_11},
    {"matmul_tiles_8bit", "matmul", metal::msl_bindings_12, {}, metal::msl_limit_12, metal::msl_entry_12},
    {"matmul_few_4bit_1", "matmul", metal::msl_bindings_13, {}, metal::msl_limit_13, metal::msl_entry_13},
    {"matmul_few_4bit_2", "matmul", metal::msl_bindings_14, {}, metal::msl_limit_14, metal::msl_entry_14},
    {"matmul_tiles_4bit", "matmul", metal::msl_bindings_15, {}, metal::msl_limit_15, metal::msl_entry_15},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
