// sigmoid_gate.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/sigmoid_gate.metal"
# 1 "Shaders/sigmoid_gate.metal"

# 1 "Shaders/args/rows.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/rows.h"

namespace pagoda_args {

struct GatherRows {
  long x_stride, out_stride;
  uint cols, reserved;
};
static_assert(sizeof(GatherRows) == 24, "host and kernel agree");

struct SigmoidGate {
  long x_stride, x_head_stride, gate_stride, gate_head_stride, out_stride, out_head_stride;
  uint heads, dim;
};
static_assert(sizeof(SigmoidGate) == 56, "host and kernel agree");


struct Slot {
  long slot_stride;
  long slot_units;
  long from, to;
};
static_assert(sizeof(Slot) == 32, "host and kernel agree");

}
# 3 "Shaders/sigmoid_gate.metal"
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
# 5 "Shaders/norms.h"

MSL_CONSTANT constexpr uint kRowThreads = 256;
MSL_CONSTANT constexpr uint kRowSimdgroups = 8;

MSL_CONSTANT constexpr uint kAhead = 8;


METAL_FUNC float thread_squares(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; MSL_LOOP(first < width); first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);

    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }


METAL_FUNC float head_scale(MSL_DEVICE const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; MSL_LOOP(i < dim); i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
# 4 "Shaders/sigmoid_gate.metal"



MSL_KERNEL void sigmoid_gate(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* gate ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::SigmoidGate& args ,
                         uint2 tg ,
                         uint tid ) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.heads * args.dim) {
    return;
  }
  const long head = i / args.dim;
  const uint d = i % args.dim;
  const float value = x[long(tg.y) * args.x_stride + head * args.x_head_stride + d];
  out[long(tg.y) * args.out_stride + head * args.out_head_stride + d] =
      gated(value, gate[long(tg.y) * args.gate_stride + head * args.gate_head_stride + d]);
}


# 1 "sigmoid_gate.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  sigmoid_gate((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::SigmoidGate*)in.buffers[3], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"gate", 1, BindingKind::buffer, sizeof(float), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::SigmoidGate), false}};
constexpr uint32_t msl_limit_0 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> sigmoid_gate_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"sigmoid_gate", "sigmoid_gate", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
