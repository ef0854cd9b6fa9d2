// gdn_decode.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/gdn_decode.metal"
# 1 "Shaders/gdn_decode.metal"

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
# 3 "Shaders/gdn_decode.metal"


template <uint PER>

MSL_KERNEL void gdn_decode(MSL_DEVICE const float* q ,
                       MSL_DEVICE const float* k ,
                       MSL_DEVICE const float* v ,
                       MSL_DEVICE const float* a ,
                       MSL_DEVICE const float* b ,
                       MSL_DEVICE const float* a_log ,
                       MSL_DEVICE const float* dt_bias ,
                       MSL_DEVICE const int* cu_seqlens ,
                       MSL_DEVICE const int* context_lens ,
                       MSL_DEVICE const int* state_slots ,
                       MSL_DEVICE float* state ,
                       MSL_DEVICE float* k_rows ,
                       MSL_DEVICE float* u_rows ,
                       MSL_DEVICE float* g_rows ,
                       MSL_DEVICE float* out ,
                       MSL_CONSTANT pagoda_args::Gdn& args ,
                       uint3 tg ,
                       uint tid ,
                       uint sg ,
                       uint lane ) {
  MSL_TG_VAR(1, kn, [4*64], float)
  MSL_TG_VAR(2, qn, [4*64], float)
  MSL_TG_VAR(3, coef, [2*kBlock], float)
  MSL_TG_VAR(4, parts, [2*kQuarters*kPanel], float)

  const uint head = tg.y;
  const long token = cu_seqlens[tg.z];
  if (cu_seqlens[tg.z + 1] - int(token) != 1) {
    return;
  }
  const long slot = state_slots[tg.z];
  const uint row = uint(context_lens[tg.z] - 1) % kBlock;
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint column = min(lane, width - 1);
  const uint d0 = sg * args.quarter;
  const uint count = min(args.quarter, args.dk - min(args.dk, d0));

  MSL_DEVICE float* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk + column;
  float s[PER];
  load_state<PER>((MSL_DEVICE const float*)(s_at), width, d0, count, s);

  MSL_DEVICE const float* k_in = k + token * args.k_stride + k_head * args.k_head_stride;
  MSL_DEVICE const float* q_in = q + token * args.q_stride + k_head * args.q_head_stride;
  const float k_inv = inverse_norm(k_in, args.dk, lane);
  const float q_inv = inverse_norm(q_in, args.dk, lane) * args.q_scale;
  for (uint d = tid; MSL_LOOP(d < args.dk); d += 128) {
    kn[d] = k_in[d] * k_inv;
    qn[d] = q_in[d] * q_inv;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float y_k = 0.0f;
  float y_q = 0.0f;

  for (uint i = 0; i < PER; ++i) {
    if (i < count) {
      y_k = fma(s[i], kn[d0 + i], y_k);
      y_q = fma(s[i], qn[d0 + i], y_q);
    }
  }
  parts[sg * kPanel + lane] = y_k;
  parts[(kQuarters + sg) * kPanel + lane] = y_q;

  MSL_DEVICE float* k_old = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
  MSL_DEVICE float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
  const float g = next_g(row > 0 ? g_old[row - 1] : 0.0f, a + token * args.a_stride, a_log, dt_bias, head);
  for (uint r = sg; MSL_LOOP(r <= row); r += kQuarters) {
    float dot_k = 0.0f;
    float dot_q = 0.0f;
    for (uint d = lane; MSL_LOOP(d < args.dk); d += 32) {
      const float kr = r < row ? k_old[r * args.dk + d] : kn[d];
      dot_k = fma(kr, kn[d], dot_k);
      dot_q = fma(kr, qn[d], dot_q);
    }
    dot_k = simd_sum(dot_k);
    dot_q = simd_sum(dot_q);
    const float g_r = r < row ? g_old[r] : g;
    if (lane == 0) {
      coef[r] = u_coefficient(dot_k, g, g_r);
      coef[kBlock + r] = o_coefficient(dot_q, g, g_r);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + first + column;
  const float decay = precise::exp(g);
  float u = fma(-decay, sum_quarters(parts + lane, kPanel),
                v[token * args.v_stride + head * args.v_head_stride + first + column]);
  float o = decay * sum_quarters(parts + kQuarters * kPanel + lane, kPanel);
  for (uint r = 0; MSL_LOOP(r < row); ++r) {
    const float u_r = u_at[r * args.dv];
    u = fma(coef[r], u_r, u);
    o = fma(coef[kBlock + r], u_r, o);
  }
  u = u * sigmoid(b[token * args.b_stride + head]);
  o = fma(coef[kBlock + row], u, o);



  if (row == kBlock - 1) {
    float weighted[kBlock - 1];

    for (uint r = 0; r < kBlock - 1; ++r) {
      weighted[r] = precise::exp(g - g_old[r]) * u_at[r * args.dv];
    }

    for (uint i = 0; i < count; i += 8) {
      float part[8];
      load_state<8>((MSL_DEVICE const float*)(s_at), width, d0 + i, count - i, part);
      scale_state<8>(part, decay);

      for (uint r = 0; r < kBlock - 1; ++r) {
        add_row<8>(part, (MSL_DEVICE const float*)(k_old + r * args.dk + d0 + i), count - i, weighted[r]);
      }

      for (uint j = 0; j < 8; ++j) {

        if (i + j < count) {
          part[j] = fma(kn[d0 + i + j], u, part[j]);
        }
      }
      simdgroup_barrier(mem_flags::mem_device);
      if (lane < width) {
        store_state<8>(s_at, width, d0 + i, count - i, part);
      }
    }
  }
  if (sg == 0 && lane < width) {
    out[token * args.out_stride + head * args.out_head_stride + first + lane] = o;
    u_at[row * args.dv] = u;
  }
  if (tg.x == 0) {
    if (head % group == 0) {
      for (uint d = tid; MSL_LOOP(d < args.dk); d += 128) {
        k_old[row * args.dk + d] = kn[d];
      }
    }
    if (tid == 0) {
      g_old[row] = g;
    }
  }
}





# 1 "gdn_decode.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_decode<32>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::Gdn*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"a", 3, BindingKind::buffer, sizeof(float), false}, {"b", 4, BindingKind::buffer, sizeof(float), false}, {"a_log", 5, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 6, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 7, BindingKind::buffer, sizeof(int), false}, {"context_lens", 8, BindingKind::buffer, sizeof(int), false}, {"state_slots", 9, BindingKind::buffer, sizeof(int), false}, {"state", 10, BindingKind::buffer, sizeof(float), true}, {"k_rows", 11, BindingKind::buffer, sizeof(float), true}, {"u_rows", 12, BindingKind::buffer, sizeof(float), true}, {"g_rows", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_decode<64>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::Gdn*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"a", 3, BindingKind::buffer, sizeof(float), false}, {"b", 4, BindingKind::buffer, sizeof(float), false}, {"a_log", 5, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 6, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 7, BindingKind::buffer, sizeof(int), false}, {"context_lens", 8, BindingKind::buffer, sizeof(int), false}, {"state_slots", 9, BindingKind::buffer, sizeof(int), false}, {"state", 10, BindingKind::buffer, sizeof(float), true}, {"k_rows", 11, BindingKind::buffer, sizeof(float), true}, {"u_rows", 12, BindingKind::buffer, sizeof(float), true}, {"g_rows", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_1 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_decode_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"gdn_decode_128", "gdn_decode", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"gdn_decode_256", "gdn_decode", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
