// qk_norm_rope.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/qk_norm_rope.metal"
# 1 "Shaders/qk_norm_rope.metal"

# 1 "Shaders/args/qk_norm_rope.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/qk_norm_rope.h"

namespace pagoda_args {

struct QkNormRope {
  long x_stride, x_head_stride, out_stride, out_head_stride;
  uint dim;
  uint half_rotary;
  float eps;
  float weight_offset;
  uint has_weight;
  uint reserved;
};
static_assert(sizeof(QkNormRope) == 56, "host and kernel agree");

}
# 3 "Shaders/qk_norm_rope.metal"
# 1 "Shaders/rope.h"



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
# 5 "Shaders/rope.h"



METAL_FUNC void norm_and_rotate(MSL_DEVICE const float* from, MSL_DEVICE const float* weight, MSL_DEVICE const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, MSL_THREADGROUP float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; MSL_LOOP(i < dim); i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; MSL_LOOP(i < dim); i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; MSL_LOOP(i < half_rotary); i += 32) {
    const float angle = float(position) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + half_rotary];
    head[i] = a * c - b * s;
    head[i + half_rotary] = b * c + a * s;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
# 4 "Shaders/qk_norm_rope.metal"



MSL_KERNEL void qk_norm_rope(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* weight ,
                         MSL_DEVICE const int* positions ,
                         MSL_DEVICE const float* inv_freq ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::QkNormRope& args ,
                         uint2 tg ,
                         uint lane ) {
  MSL_TG_VAR(1, head, [512], float)
  norm_and_rotate(x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride, weight, inv_freq, positions[tg.y],
                  args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  MSL_DEVICE float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; MSL_LOOP(i < args.dim); i += 32) {
    to[i] = head[i];
  }
}


# 1 "qk_norm_rope.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  qk_norm_rope((const float*)in.buffers[0], (const float*)in.buffers[1], (const int*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::QkNormRope*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"positions", 2, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::QkNormRope), false}};
constexpr uint32_t msl_limit_0 = 32;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> qk_norm_rope_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"qk_norm_rope", "qk_norm_rope", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
