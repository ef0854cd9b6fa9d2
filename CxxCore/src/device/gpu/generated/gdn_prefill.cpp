// gdn_prefill.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/gdn_prefill.metal"
# 1 "Shaders/gdn_prefill.metal"

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
# 3 "Shaders/gdn_prefill.metal"


template <uint PER>

MSL_KERNEL void gdn_prefill(MSL_DEVICE const float* v ,
                        MSL_DEVICE const int* cu_seqlens ,
                        MSL_DEVICE const int* context_lens ,
                        MSL_DEVICE const int* state_slots ,
                        MSL_DEVICE const float* rows ,
                        MSL_DEVICE const float* gates ,
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
  MSL_TG_VAR(1, parts, [kBlock*2*kQuarters*kPanel], float)
  MSL_TG_VAR(2, gate, [kGateFloats], float)

  const uint head = tg.y;
  const int begin = cu_seqlens[tg.z];
  const int tokens = cu_seqlens[tg.z + 1] - begin;
  if (tokens == 1) {
    return;
  }
  const int start = (context_lens[tg.z] - tokens) % int(kBlock);
  const uint blocks = (uint(start + tokens) + kBlock - 1) / kBlock;
  const uint last_rows = uint(start + tokens) - (blocks - 1) * kBlock;
  const long slot = state_slots[tg.z];
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint column = min(lane, width - 1);
  const uint d0 = sg * args.quarter;
  const uint count = min(args.quarter, args.dk - min(args.dk, d0));

  MSL_DEVICE float* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk + column;
  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + first + column;
  float s[PER];
  load_state<PER>((MSL_DEVICE const float*)(s_at), width, d0, count, s);

  for (uint block = 0; MSL_LOOP(block < blocks); ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    const long index = first_block(cu_seqlens, tg.z) + block;
    MSL_DEVICE const float* kn = rows + (index * args.k_heads + k_head) * 2 * kBlock * args.dk;
    MSL_DEVICE const float* qn = kn + kBlock * args.dk;
    MSL_DEVICE const float* gate_from = gates + (index * args.v_heads + head) * kGateFloats;
    for (uint i = tid; MSL_LOOP(i < kGateFloats); i += 128) {
      gate[i] = gate_from[i];
    }
    for (uint t = lo; MSL_LOOP(t < hi); ++t) {
      float y_k = 0.0f;
      float y_q = 0.0f;

      for (uint i = 0; i < PER; ++i) {
        if (i < count) {
          y_k = fma(s[i], kn[t * args.dk + d0 + i], y_k);
          y_q = fma(s[i], qn[t * args.dk + d0 + i], y_q);
        }
      }
      parts[((t * 2) * kQuarters + sg) * kPanel + lane] = y_k;
      parts[((t * 2 + 1) * kQuarters + sg) * kPanel + lane] = y_q;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    float u[kBlock];

    for (uint t = 0; t < kBlock; ++t) {
      u[t] = 0.0f;
      if (t < lo) {
        u[t] = u_at[t * args.dv];
      } else if (t < hi) {
        const long token = begin + row0 + int(t);
        const float decay = precise::exp(gate[t]);
        float u_t = fma(-decay, sum_quarters(parts + t * 2 * kQuarters * kPanel + lane, kPanel),
                        v[token * args.v_stride + head * args.v_head_stride + first + column]);
        float o_t = decay * sum_quarters(parts + (t * 2 + 1) * kQuarters * kPanel + lane, kPanel);

        for (uint r = 0; r < t; ++r) {
          u_t = fma(gate[kGates + r * kBlock + t], u[r], u_t);
          o_t = fma(gate[kGates + kBlock * kBlock + r * kBlock + t], u[r], o_t);
        }
        u[t] = u_t * gate[kBlock + t];
        if (t % kQuarters == sg && lane < width) {
          out[token * args.out_stride + head * args.out_head_stride + first + lane] =
              fma(gate[kGates + kBlock * kBlock + t * kBlock + t], u[t], o_t);
        }
      }
    }

    if (hi == kBlock) {
      scale_state<PER>(s, precise::exp(gate[kBlock - 1]));

      for (uint r = 0; r < kBlock; ++r) {
        add_row<PER>(s, kn + r * args.dk + d0, count, gate[2 * kBlock + r] * u[r]);
      }
    }


    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);

    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kQuarters == sg && lane < width) {
        u_at[t * args.dv] = u[t];
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        MSL_DEVICE float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint i = keep * args.dk + tid; MSL_LOOP(i < hi * args.dk); i += 128) {
          to[i] = kn[i];
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  }
  if (uint(start + tokens) >= kBlock && lane < width) {
    store_state<PER>(s_at, width, d0, count, s);
  }
}





# 1 "gdn_prefill.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_prefill<32>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"v", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"state_slots", 3, BindingKind::buffer, sizeof(int), false}, {"rows", 4, BindingKind::buffer, sizeof(float), false}, {"gates", 5, BindingKind::buffer, sizeof(float), false}, {"state", 6, BindingKind::buffer, sizeof(float), true}, {"k_rows", 7, BindingKind::buffer, sizeof(float), true}, {"u_rows", 8, BindingKind::buffer, sizeof(float), true}, {"g_rows", 9, BindingKind::buffer, sizeof(float), true}, {"out", 10, BindingKind::buffer, sizeof(float), true}, {"args", 11, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  gdn_prefill<64>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"v", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"state_slots", 3, BindingKind::buffer, sizeof(int), false}, {"rows", 4, BindingKind::buffer, sizeof(float), false}, {"gates", 5, BindingKind::buffer, sizeof(float), false}, {"state", 6, BindingKind::buffer, sizeof(float), true}, {"k_rows", 7, BindingKind::buffer, sizeof(float), true}, {"u_rows", 8, BindingKind::buffer, sizeof(float), true}, {"g_rows", 9, BindingKind::buffer, sizeof(float), true}, {"out", 10, BindingKind::buffer, sizeof(float), true}, {"args", 11, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
constexpr uint32_t msl_limit_1 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_prefill_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"gdn_prefill_128", "gdn_prefill", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"gdn_prefill_256", "gdn_prefill", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
