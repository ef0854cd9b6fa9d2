// The text of matmul_rows.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_rows_source() noexcept {
  return {"matmul_rows",
R"msl(#pragma METAL fp contract(off)
// matmul_rows: activations as the kernels of 16, 8 and 4 bits take them; matmul.h has the layout.
// Arguments of matmul_*.metal, shared by the kernels and the host.

// RowSource: how a matmul gets its rows of activations, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

// A row has `heads` heads of `dim` elements. kind 0: as they lie, the strides of heads are not used; 1: RMS norm of the
// row, one head; 2: RMS norm of each head times silu(gate); 3: times sigmoid(gate).
struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;  // elements
  uint kind;
  uint heads;  // at most 64
  uint dim;    // a multiple of 16
  float eps;
  float weight_offset;  // of kind 1
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}  // namespace pagoda_args

namespace pagoda_args {

struct MatmulRows {
  long x_stride;  // elements from one row to the next
  uint cols;
  uint padded_cols;
  uint block;  // columns that are rotated together (quantised weights)
  uint reserved;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");

struct Matmul {
  long x_stride;    // elements from one row of x to the next
  long out_stride;  // elements from one row to the next
  uint rows;        // M
  uint cols;        // K
  uint out_cols;    // N, or N / 2 with silu_mul
  uint padded_cols;
  uint run;  // columns that are summed together: an eighth of padded_cols, rounded up to 64
  uint has_bias;
  uint silu_mul;
  uint adds;         // to what `out` has
  RowSource source;  // of matmul_few_made_*
};
static_assert(sizeof(Matmul) == 96, "host and kernel agree");

}  // namespace pagoda_args
// Rows of activations that a matmul normalises or gates as it reads them: the same bits as rms_norm, gated_rms_norm and
// sigmoid_gate would have written, without their launch and without the row going through memory.

// Norms and gates of activations: what their own kernels and the matmuls that make their rows share.

// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite substitute for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

// Elements first, first + stride, ..., all in flight at once; 0 from `end` on.
template <uint N>
METAL_FUNC void load_ahead(device const float* from, uint first, uint stride, uint end, thread float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}

// The sum of v over all threads of the threadgroup, in one order: lanes by butterfly, then simdgroups by index.
// `partial` has an element for each simdgroup; it may be used again after the caller's next barrier.
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}

// The sequence whose rows hold `row`.
METAL_FUNC uint sequence_of_row(device const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// Multiplies tile[0 .. block) with the Hadamard matrix, in place: additions in the order of strides 1, 2, 4, ...
// All threads of the threadgroup call it; the tile is complete and visible to all when it returns.
METAL_FUNC void rotate(threadgroup float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// The number that eight or four bits of a quantised row stand for, before the row's scale.
METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}

// acc[i][j] += a[i] * b[j] over 8x8 tiles.
template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(thread simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         thread simdgroup_matrix<T, 8, 8> (&a)[R],
                                         thread simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's smallest tile is 16x8: two of ours side by side.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
#endif
  }
}

constant constexpr uint kRowThreads = 256;  // that sum a row's squares; part of the result's bits
constant constexpr uint kRowSimdgroups = 8;
// Loads in flight of a thread: with one row there is nothing else to wait beside.
constant constexpr uint kAhead = 8;

// A thread's share of the sum of squares of a row.
METAL_FUNC float thread_squares(device const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }

// By one simdgroup.
METAL_FUNC float head_scale(device const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }

constant constexpr uint kRmsNorm = 1;
constant constexpr uint kGatedRmsNorm = 2;
constant constexpr uint kSigmoidGate = 3;
constant constexpr uint kMostHeads = 64;

// scales[row * heads + head] of `rows` rows, by 256 threads; partial: 8 floats a row.
METAL_FUNC void row_scales(device const float* x, long x_stride, constant pagoda_args::RowSource& source, uint rows,
                           threadgroup float* scales, threadgroup float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; r < rows; ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; i < kRowSimdgroups; ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {
    // Only saves work: a gate alone reads no scales.
    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; i < rows * source.heads; i += kRowSimdgroups) {
        device const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Element `column` of a row. x and gate: at the row; scales: of the row.
METAL_FUNC float row_element(device const float* x, device const float* weight, device const float* gate,
                             constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}

// The same of four neighbours, the first at a multiple of 4.
METAL_FUNC float4 row_elements(device const float* x, device const float* weight, device const float* gate,
                               constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(device const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(device const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(device const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(device const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}

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
)msl"
R"msl(  device const float* from_gate = gate + long(row) * args.source.gate_stride;
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
# 1 "Shaders/matmul_rows.metal"
# 1 "Shaders/matmul_rows.metal"

# 1 "Shaders/args/matmul.h"



# 1 "Shaders/args/row_source.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/row_source.h"

namespace pagoda_args {



struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;
  uint kind;
  uint heads;
  uint dim;
  float eps;
  float weight_offset;
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}
# 5 "Shaders/args/matmul.h"


namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint block;
  uint reserved;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");

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
  uint adds;
  RowSource source;
};
static_assert(sizeof(Matmul) == 96, "host and kernel agree");

}
# 3 "Shaders/matmul_rows.metal"
# 1 "Shaders/row_source.h"





# 1 "Shaders/norms.h"



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
#pragma unroll
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
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
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
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
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
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }






  }
}
# 5 "Shaders/norms.h"

MSL_CONSTANT constexpr uint kRowThreads = 256;
MSL_CONSTANT constexpr uint kRowSimdgroups = 8;

MSL_CONSTANT constexpr uint kAhead = 8;


METAL_FUNC float thread_squares(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }


METAL_FUNC float head_scale(MSL_DEVICE const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
# 7 "Shaders/row_source.h"

MSL_CONSTANT constexpr uint kRmsNorm = 1;
MSL_CONSTANT constexpr uint kGatedRmsNorm = 2;
MSL_CONSTANT constexpr uint kSigmoidGate = 3;
MSL_CONSTANT constexpr uint kMostHeads = 64;


METAL_FUNC void row_scales(MSL_DEVICE const float* x, long x_stride, MSL_CONSTANT pagoda_args::RowSource& source, uint rows,
                           MSL_THREADGROUP float* scales, MSL_THREADGROUP float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; r < rows; ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; i < kRowSimdgroups; ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {

    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; i < rows * source.heads; i += kRowSimdgroups) {
        MSL_DEVICE const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}


METAL_FUNC float row_element(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                             MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}


METAL_FUNC float4 row_elements(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                               MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(MSL_DEVICE const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(MSL_DEVICE const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
# 4 "Shaders/matmul_rows.metal"



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
)msl"
R"msl(#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_bf16)
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
