// gdn_prepare.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/gdn_prepare.metal"
# 1 "Shaders/gdn_prepare.metal"

# 1 "Shaders/gdn.h"
# 17 "Shaders/gdn.h"
# 1 "Shaders/args/gdn.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/gdn.h"

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint quarter;
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Gdn) == 144, "host and kernel agree");

}
# 18 "Shaders/gdn.h"
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
# 19 "Shaders/gdn.h"

MSL_CONSTANT constexpr uint kBlock = 16;
MSL_CONSTANT constexpr uint kPanel = 32;
MSL_CONSTANT constexpr uint kQuarters = 4;
MSL_CONSTANT constexpr float kNormEps = 1.0e-6f;

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }


METAL_FUNC float lane_dot(MSL_DEVICE const float* x, MSL_DEVICE const float* y, uint dk, uint lane) {
  float sum = 0.0f;
  for (uint d = lane; MSL_LOOP(d < dk); d += 32) {
    sum = fma(x[d], y[d], sum);
  }
  return simd_sum(sum);
}


METAL_FUNC float inverse_norm(MSL_DEVICE const float* x, uint dk, uint lane) {
  return precise::rsqrt(lane_dot(x, x, dk, lane) + kNormEps);
}


METAL_FUNC float next_g(float before, MSL_DEVICE const float* a, MSL_DEVICE const float* a_log, MSL_DEVICE const float* dt_bias,
                        uint head) {
  return fma(-precise::exp(a_log[head]), softplus(a[head] + dt_bias[head]), before);
}


METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }


template <uint PER>
METAL_FUNC void load_state(MSL_DEVICE const float* at, uint width, uint d0, uint count, MSL_THREAD float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = 0.0f;
    if (i < count) {
      s[i] = at[(d0 + i) * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(MSL_DEVICE float* at, uint width, uint d0, uint count, MSL_THREAD const float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    if (i < count) {
      at[(d0 + i) * width] = s[i];
    }
  }
}


template <uint PER>
METAL_FUNC void scale_state(MSL_THREAD float (&s)[PER], float decay) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}


template <uint PER>
METAL_FUNC void add_row(MSL_THREAD float (&s)[PER], MSL_DEVICE const float* k, uint count, float weighted_u) {

  for (uint i = 0; i < PER; ++i) {

    if (i < count) {
      s[i] = fma(k[i], weighted_u, s[i]);
    }
  }
}

METAL_FUNC float sum_quarters(MSL_THREADGROUP const float* parts, uint stride) {
  return ((parts[0] + parts[stride]) + parts[2 * stride]) + parts[3 * stride];
}


METAL_FUNC uint first_block(MSL_DEVICE const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }


MSL_CONSTANT constexpr uint kGates = 3 * kBlock;
MSL_CONSTANT constexpr uint kGateFloats = kGates + 2 * kBlock * kBlock;
# 3 "Shaders/gdn_prepare.metal"





MSL_KERNEL void gdn_prepare(MSL_DEVICE const float* q ,
                        MSL_DEVICE const float* k ,
                        MSL_DEVICE const float* a ,
                        MSL_DEVICE const float* b ,
                        MSL_DEVICE const float* a_log ,
                        MSL_DEVICE const float* dt_bias ,
                        MSL_DEVICE const int* cu_seqlens ,
                        MSL_DEVICE const int* context_lens ,
                        MSL_DEVICE const int* state_slots ,
                        MSL_DEVICE const float* k_rows ,
                        MSL_DEVICE const float* g_rows ,
                        MSL_DEVICE float* rows ,
                        MSL_DEVICE float* gates ,
                        MSL_CONSTANT pagoda_args::Gdn& args ,
                        uint2 tg ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  MSL_TG_VAR(1, dots, [2*kBlock*kBlock], float)
  MSL_TG_VAR(2, g_tile, [kBlock], float)

  uint seq = 0;
  uint end = args.num_sequences;
  while (MSL_LOOP(end - seq > 1)) {
    const uint middle = (seq + end) / 2;
    if (first_block(cu_seqlens, middle) <= tg.x) {
      seq = middle;
    } else {
      end = middle;
    }
  }
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int start = (context_lens[seq] - tokens) % int(kBlock);
  const int row0 = int((tg.x - first_block(cu_seqlens, seq)) * kBlock) - start;
  if (tokens == 1 || row0 >= tokens) {
    return;
  }
  const long slot = state_slots[seq];
  const uint lo = uint(max(0, -row0));
  const uint hi = uint(min(int(kBlock), tokens - row0));
  MSL_DEVICE float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * args.dk;
  MSL_DEVICE float* qn = kn + kBlock * args.dk;
  MSL_DEVICE const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  for (uint t = sg; MSL_LOOP(t < kBlock); t += kQuarters) {
    if (t >= lo && t < hi) {
      const long token = begin + row0 + int(t);
      MSL_DEVICE const float* k_in = k + token * args.k_stride + tg.y * args.k_head_stride;
      MSL_DEVICE const float* q_in = q + token * args.q_stride + tg.y * args.q_head_stride;
      const float k_inv = inverse_norm(k_in, args.dk, lane);
      const float q_inv = inverse_norm(q_in, args.dk, lane) * args.q_scale;
      for (uint d = lane; MSL_LOOP(d < args.dk); d += 32) {
        kn[t * args.dk + d] = k_in[d] * k_inv;
        qn[t * args.dk + d] = q_in[d] * q_inv;
      }
    } else {
      for (uint d = lane; MSL_LOOP(d < args.dk); d += 32) {
        kn[t * args.dk + d] = t < lo ? k_old[t * args.dk + d] : 0.0f;
        qn[t * args.dk + d] = 0.0f;
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_device);

  for (uint i = sg; MSL_LOOP(i < kBlock * kBlock); i += kQuarters) {
    const uint s = i / kBlock;
    const uint t = i % kBlock;

    if (s <= t && t >= lo && t < hi) {
      float dot_k = 0.0f;
      float dot_q = 0.0f;
      for (uint d = lane; MSL_LOOP(d < args.dk); d += 32) {
        const float kr = kn[s * args.dk + d];
        dot_k = fma(kr, kn[t * args.dk + d], dot_k);
        dot_q = fma(kr, qn[t * args.dk + d], dot_q);
      }
      dot_k = simd_sum(dot_k);
      dot_q = simd_sum(dot_q);
      if (lane == 0) {
        dots[i] = dot_k;
        dots[kBlock * kBlock + i] = dot_q;
      }
    }
  }

  const uint group = args.v_heads / args.k_heads;
  for (uint j = 0; MSL_LOOP(j < group); ++j) {
    const uint head = tg.y * group + j;
    MSL_DEVICE float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    MSL_DEVICE const float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
    if (tid == 0) {
      float g = 0.0f;
      for (uint t = 0; MSL_LOOP(t < kBlock); ++t) {
        if (t < lo) {
          g = g_old[t];
        } else if (t < hi) {
          g = next_g(g, a + long(begin + row0 + int(t)) * args.a_stride, a_log, dt_bias, head);
        }
        g_tile[t] = g;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < kBlock) {
      const uint t = tid;
      to[t] = g_tile[t];
      float beta = 0.0f;
      if (t >= lo && t < hi) {
        beta = sigmoid(b[long(begin + row0 + int(t)) * args.b_stride + head]);
      }
      to[kBlock + t] = beta;
      to[2 * kBlock + t] = precise::exp(g_tile[kBlock - 1] - g_tile[t]);
    }
    for (uint i = tid; MSL_LOOP(i < kBlock * kBlock); i += 128) {
      const uint s = i / kBlock;
      const uint t = i % kBlock;
      const bool is_used = s <= t && t >= lo && t < hi;
      float c_u = 0.0f;
      float c_o = 0.0f;
      if (is_used) {
        c_u = u_coefficient(dots[i], g_tile[t], g_tile[s]);
        c_o = o_coefficient(dots[kBlock * kBlock + i], g_tile[t], g_tile[s]);
      }
      to[kGates + i] = c_u;
      to[kGates + kBlock * kBlock + i] = c_o;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


# 1 "gdn_prepare.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_prepare((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const int*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const float*)in.buffers[9], (const float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], *(const pagoda_args::Gdn*)in.buffers[13], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"a", 2, BindingKind::buffer, sizeof(float), false}, {"b", 3, BindingKind::buffer, sizeof(float), false}, {"a_log", 4, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 5, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 6, BindingKind::buffer, sizeof(int), false}, {"context_lens", 7, BindingKind::buffer, sizeof(int), false}, {"state_slots", 8, BindingKind::buffer, sizeof(int), false}, {"k_rows", 9, BindingKind::buffer, sizeof(float), false}, {"g_rows", 10, BindingKind::buffer, sizeof(float), false}, {"rows", 11, BindingKind::buffer, sizeof(float), true}, {"gates", 12, BindingKind::buffer, sizeof(float), true}, {"args", 13, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_0 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_prepare_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"gdn_prepare", "gdn_prepare", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
