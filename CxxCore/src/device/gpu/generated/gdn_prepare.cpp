// gdn_prepare.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/gdn_prepare.metal"
# 1 "Shaders/gdn_prepare.metal"

# 1 "Shaders/gdn.h"
# 18 "Shaders/gdn.h"
# 1 "Shaders/args/gdn.h"



# 1 "Shaders/args/causal_conv1d.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/causal_conv1d.h"

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}
# 5 "Shaders/args/gdn.h"


namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint is_wide;
  float q_scale;
  uint reserved;

  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");

}
# 19 "Shaders/gdn.h"
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
# 20 "Shaders/gdn.h"

MSL_CONSTANT constexpr uint kBlock = 16;
MSL_CONSTANT constexpr uint kPanel = 32;
MSL_CONSTANT constexpr uint kSplit = 8;
MSL_CONSTANT constexpr uint kGroups = 4;
MSL_CONSTANT constexpr float kNormEps = 1.0e-6f;


METAL_FUNC void keep_loads_here() {



}

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }


METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}



template <uint N, uint P>
METAL_FUNC float fold(MSL_THREAD float (&x)[N], uint lane) {
  uint n = N;

  for (uint m = P / 2; m > 0; m /= 2) {
    if (n > 1) {
      n /= 2;
      const uint high = 0u - (lane / m & 1u);

      for (uint i = 0; i < N / 2; ++i) {

        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(m));
        }
      }
    } else {
      x[0] = x[0] + simd_shuffle_xor(x[0], ushort(m));
    }
  }
  return x[0];
}


template <uint N>
METAL_FUNC void load_row(MSL_DEVICE const float* from, uint dk, uint lane, MSL_THREAD float (&x)[N]) {
  load_ahead<N>(from, lane, 32, dk, x);
}

template <uint N>
METAL_FUNC float lane_dot(MSL_THREAD const float (&x)[N], MSL_THREAD const float (&y)[N]) {
  float sum = 0.0f;

  for (uint i = 0; i < N; ++i) {
    sum = fma(x[i], y[i], sum);
  }
  return sum;
}


template <uint N>
METAL_FUNC float inverse_norm(MSL_THREAD const float (&x)[N], uint lane) {
  float sum[1];
  sum[0] = lane_dot<N>(x, x);
  return precise::rsqrt(fold<1, 32>(sum, lane) + kNormEps);
}


METAL_FUNC float next_g(float before, float rate, float x) { return fma(-rate, x, before); }


METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }


METAL_FUNC float begin_row(uint kind, float decay, float y, float v) {
  return kind == 0 ? fma(-decay, y, v) : decay * y;
}


METAL_FUNC uint dim_of(uint part, uint i) { return 4 * (part + kSplit * (i / 4)) + i % 4; }


template <uint PER>
METAL_FUNC void load_part(MSL_THREADGROUP const float* row, uint part, MSL_THREAD float (&x)[PER]) {

  for (uint i = 0; i < PER; i += 4) {
    const float4 f = *(MSL_THREADGROUP const float4*)(row + dim_of(part, i));
    x[i] = f.x;
    x[i + 1] = f.y;
    x[i + 2] = f.z;
    x[i + 3] = f.w;
  }
}


template <uint NC, uint PER>
METAL_FUNC float state_times(MSL_THREAD const float (&s)[NC][PER], MSL_THREAD const float (&k)[PER],
                             MSL_THREAD const float (&q)[PER], uint lane) {
  float x[2 * NC];

  for (uint c = 0; c < NC; ++c) {
    x[c] = s[c][0] * k[0];
    x[NC + c] = s[c][0] * q[0];
  }

  for (uint i = 1; i < PER; ++i) {

    for (uint c = 0; c < NC; ++c) {
      x[c] = fma(s[c][i], k[i], x[c]);
      x[NC + c] = fma(s[c][i], q[i], x[NC + c]);
    }
  }
  return fold<2 * NC, kSplit>(x, lane);
}


template <uint PER>
METAL_FUNC void scale_state(MSL_THREAD float (&s)[PER], float decay) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}

template <uint PER>
METAL_FUNC void add_row(MSL_THREAD float (&s)[PER], MSL_THREAD const float (&k)[PER], float weighted_u) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = fma(k[i], weighted_u, s[i]);
  }
}


template <uint PER>
METAL_FUNC void load_state(MSL_DEVICE const float* at, uint width, uint dk, uint part, MSL_THREAD float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = at[d * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(MSL_DEVICE float* at, uint width, uint dk, uint part, MSL_THREAD const float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = s[i];
    }
  }
}


METAL_FUNC uint first_block(MSL_DEVICE const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }



MSL_CONSTANT constexpr uint kBetas = kBlock;
MSL_CONSTANT constexpr uint kWeights = 2 * kBlock;
MSL_CONSTANT constexpr uint kDecays = 3 * kBlock;
MSL_CONSTANT constexpr uint kCoefficients = 4 * kBlock;
MSL_CONSTANT constexpr uint kGateFloats = 640;
# 3 "Shaders/gdn_prepare.metal"




template <uint D>

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
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;
  MSL_TG_VAR(1, k_tile, [kBlock*D], float)
  MSL_TG_VAR(2, dots, [2*kBlock*kBlock], float)

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
  MSL_DEVICE float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * D;
  MSL_DEVICE float* qn = kn + kBlock * D;
  MSL_DEVICE const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  float kx[EACH][N];
  float qx[EACH][N];

  for (uint j = 0; j < EACH; ++j) {
    const uint t = sg * EACH + j;

    for (uint i = 0; i < N; ++i) {
      kx[j][i] = 0.0f;
      qx[j][i] = 0.0f;
    }
    if (t < lo) {
      load_row<N>(k_old + t * args.dk, args.dk, lane, kx[j]);
    } else if (t < hi) {
      const long token = begin + row0 + int(t);
      load_row<N>(k + token * args.k_stride + tg.y * args.k_head_stride, args.dk, lane, kx[j]);
      load_row<N>(q + token * args.q_stride + tg.y * args.q_head_stride, args.dk, lane, qx[j]);
    }
  }

  for (uint j = 0; j < EACH; ++j) {
    const uint t = sg * EACH + j;
    const bool is_new = t >= lo && t < hi;
    const float k_inv = inverse_norm<N>(kx[j], lane);
    const float q_inv = inverse_norm<N>(qx[j], lane) * args.q_scale;

    for (uint i = 0; i < N; ++i) {
      kx[j][i] = is_new ? kx[j][i] * k_inv : kx[j][i];
      qx[j][i] = qx[j][i] * q_inv;
      k_tile[t * D + lane + 32 * i] = kx[j][i];
      kn[t * D + lane + 32 * i] = kx[j][i];
      qn[t * D + lane + 32 * i] = qx[j][i];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);



  for (uint j = 0; j < EACH; ++j) {
    float x[2 * kBlock];

    for (uint s = 0; s < kBlock; ++s) {
      float ks[N];

      for (uint i = 0; i < N; ++i) {
        ks[i] = k_tile[s * D + lane + 32 * i];
      }
      x[s] = lane_dot<N>(ks, kx[j]);
      x[kBlock + s] = lane_dot<N>(ks, qx[j]);
    }
    dots[lane * kBlock + sg * EACH + j] = fold<2 * kBlock, 32>(x, lane);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint group = args.v_heads / args.k_heads;
  const uint t = lane % kBlock;
  for (uint j = 0; MSL_LOOP(j < group); ++j) {
    const uint head = tg.y * group + j;
    MSL_DEVICE float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    const bool is_new = t >= lo && t < hi;
    const float g_old = t < lo ? g_rows[slot * args.g_rows_slot_stride + head * kBlock + t] : 0.0f;
    float log_decay = 0.0f;
    float beta = 0.0f;
    if (is_new) {
      const long token = begin + row0 + int(t);
      log_decay = softplus(a[token * args.a_stride + head] + dt_bias[head]);
      beta = sigmoid(b[token * args.b_stride + head]);
    }
    const float rate = precise::exp(a_log[head]);
    float running = 0.0f;
    float g = 0.0f;
    for (uint r = 0; MSL_LOOP(r < kBlock); ++r) {
      const float x = simd_shuffle(log_decay, ushort(r));
      const float old = simd_shuffle(g_old, ushort(r));
      running = r < lo ? old : next_g(running, rate, x);
      g = r == t ? running : g;
    }
    const float g_last = simd_shuffle(g, ushort(kBlock - 1));
    if (tid < kBlock) {
      to[t] = g;
      to[kBetas + t] = beta;
      to[kWeights + t] = precise::exp(g_last - g);
      to[kDecays + t] = precise::exp(g);
    }

    for (uint i = tid; i < kBlock * kBlock; i += 128) {
      const uint s = i / kBlock;
      const float g_s = simd_shuffle(g, ushort(s));
      float c_u = 0.0f;
      float c_o = 0.0f;

      if (s <= t && is_new) {
        c_u = u_coefficient(dots[i], g, g_s);
        c_o = o_coefficient(dots[kBlock * kBlock + i], g, g_s);
      }
      to[kCoefficients + i] = c_u;
      to[kCoefficients + kBlock * kBlock + i] = c_o;
    }
  }
}





# 1 "gdn_prepare.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_prepare<128>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const int*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const float*)in.buffers[9], (const float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], *(const pagoda_args::Gdn*)in.buffers[13], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"a", 2, BindingKind::buffer, sizeof(float), false}, {"b", 3, BindingKind::buffer, sizeof(float), false}, {"a_log", 4, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 5, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 6, BindingKind::buffer, sizeof(int), false}, {"context_lens", 7, BindingKind::buffer, sizeof(int), false}, {"state_slots", 8, BindingKind::buffer, sizeof(int), false}, {"k_rows", 9, BindingKind::buffer, sizeof(float), false}, {"g_rows", 10, BindingKind::buffer, sizeof(float), false}, {"rows", 11, BindingKind::buffer, sizeof(float), true}, {"gates", 12, BindingKind::buffer, sizeof(float), true}, {"args", 13, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_prepare<256>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const int*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const float*)in.buffers[9], (const float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], *(const pagoda_args::Gdn*)in.buffers[13], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"a", 2, BindingKind::buffer, sizeof(float), false}, {"b", 3, BindingKind::buffer, sizeof(float), false}, {"a_log", 4, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 5, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 6, BindingKind::buffer, sizeof(int), false}, {"context_lens", 7, BindingKind::buffer, sizeof(int), false}, {"state_slots", 8, BindingKind::buffer, sizeof(int), false}, {"k_rows", 9, BindingKind::buffer, sizeof(float), false}, {"g_rows", 10, BindingKind::buffer, sizeof(float), false}, {"rows", 11, BindingKind::buffer, sizeof(float), true}, {"gates", 12, BindingKind::buffer, sizeof(float), true}, {"args", 13, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_1 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_prepare_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"gdn_prepare_128", "gdn_prepare", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"gdn_prepare_256", "gdn_prepare", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
