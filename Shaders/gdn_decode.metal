// gdn_decode: the gated delta rule for sequences with one token; gdn.h has the formulas and the layout.
#include "conv.h"
#include "gdn.h"

// One token: reads S, appends a row, and writes S only when the row fills the block. All loads are issued before the
// first is used. A simdgroup has 8 columns, 2 for each group of 8 lanes. With CONV, q, k and v are what causal_conv1d
// would compute from conv_x, and the tail gets the inputs; its ring has space for one more than the window's past, so
// that nothing that other threadgroups read is overwritten. Grid: [panels, v_heads, sequences]
template <typename S, uint D, bool CONV>
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_decode(device const float* q [[buffer(0)]],
                       device const float* k [[buffer(1)]],
                       device const float* v [[buffer(2)]],
                       device const float* a [[buffer(3)]],
                       device const float* b [[buffer(4)]],
                       device const float* a_log [[buffer(5)]],
                       device const float* dt_bias [[buffer(6)]],
                       device const int* cu_seqlens [[buffer(7)]],
                       device const int* context_lens [[buffer(8)]],
                       device const int* state_slots [[buffer(9)]],
                       device S* state [[buffer(10)]],
                       device float* k_rows [[buffer(11)]],
                       device float* u_rows [[buffer(12)]],
                       device float* g_rows [[buffer(13)]],
                       device float* out [[buffer(14)]],
                       device const float* conv_x [[buffer(15)]],
                       device const float* conv_weight [[buffer(16)]],
                       device float* conv_tail [[buffer(17)]],
                       constant pagoda_args::Gdn& args [[buffer(18)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint PER = D / kSplit;
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;  // rows whose dots a simdgroup computes
  threadgroup float kn[D];                 // the token's key and query, normalised, zeros after dk
  threadgroup float qn[D];
  threadgroup float coef[2 * kBlock];  // coefficients of u and of o
  threadgroup float raw[CONV ? 2 * D : 1];  // the token's convolved key and query

  const uint head = tg.y;
  const long token = cu_seqlens[tg.z];
  if (cu_seqlens[tg.z + 1] - int(token) != 1) {
    return;
  }
  const long slot = state_slots[tg.z];
  const uint row = uint(context_lens[tg.z] - 1) % kBlock;
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint mine = part / 2 % 2;  // which of the two columns the lane keeps the sums of
  const uint pair = sg * 8 + lane / kSplit * 2;                 // the first of the two
  const uint column = first + min(pair + mine, width - 1);  // those past the panel repeat its last one
  const bool is_inside = pair + mine < width;

  device S* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk;
  float s[2][PER];
  if (args.is_wide != 0) {
    #pragma unroll
    for (uint i = 0; i < PER; ++i) {
      const float2 both = load_pair((device const S*)(s_at + dim_of(part, i) * kPanel + pair));
      s[0][i] = both.x;
      s[1][i] = both.y;
    }
  } else {
    load_state<S, PER>((device const S*)(s_at + pair), width, pair < width ? args.dk : 0, part, s[0]);
    load_state<S, PER>((device const S*)(s_at + pair + 1), width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
  const int position = context_lens[tg.z] - 1;
  device const float* inputs = conv_x + token * args.conv.x_stride;
  device float* past = conv_tail + slot * args.conv.tail_slot_stride;
  if (CONV) {
    const bool is_first = tg.x == 0 && head % group == 0;  // among the threadgroups that share the key
    for (uint d = tid; d < args.dk; d += 128) {
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        const uint channel = (i == 0 ? args.k_channel : args.q_channel) + k_head * args.dk + d;
        raw[i * D + d] = conv_row(inputs + channel, (device const float*)(past + channel), conv_weight + channel,
                                  args.conv, position, 0);
        if (is_first) {
          past[tail_offset(args.conv, position) + channel] = inputs[channel];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  float kx[N];
  float qx[N];
  if (CONV) {
    #pragma unroll
    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = 0.0f;
      qx[i] = 0.0f;
      if (d < args.dk) {
        kx[i] = raw[d];
        qx[i] = raw[D + d];
      }
    }
  } else {
    load_row<N>(k + token * args.k_stride + k_head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + k_head * args.q_head_stride, args.dk, lane, qx);
  }
  device float* k_old = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
  device float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  float kr[EACH][N];
  float u_old[kBlock];
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    #pragma unroll
    for (uint j = 0; j < N; ++j) {
      kr[i][j] = 0.0f;
    }
    if (sg * EACH + i < row) {
      load_row<N>((device const float*)(k_old + (sg * EACH + i) * args.dk), args.dk, lane, kr[i]);
    }
  }
  #pragma unroll
  for (uint r = 0; r < kBlock; ++r) {
    u_old[r] = 0.0f;
    if (r < row) {
      u_old[r] = u_at[r * args.dv];
    }
  }
  const uint dot_row = sg * EACH + lane / 4 % EACH;
  const float g_row = dot_row < row ? g_old[dot_row] : 0.0f;
  const float g_before = row > 0 ? g_old[row - 1] : 0.0f;
  const uint v_channel = args.v_channel + head * args.dv + column;
  const float v_in = CONV ? conv_row(inputs + v_channel, (device const float*)(past + v_channel),
                                     conv_weight + v_channel, args.conv, position, 0)
                          : v[token * args.v_stride + head * args.v_head_stride + column];
  const float a_in = a[token * args.a_stride + head];
  const float b_in = b[token * args.b_stride + head];
  const float rate_log = a_log[head];
  const float bias = dt_bias[head];

  const float g = next_g(g_before, precise::exp(rate_log), softplus(a_in + bias));
  const float decay = precise::exp(g);
  const float beta = sigmoid(b_in) * args.beta_scale;
  const float k_inv = inverse_norm<N>(kx, lane);
  const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;
  #pragma unroll
  for (uint i = 0; i < N; ++i) {
    kx[i] = kx[i] * k_inv;
    qx[i] = qx[i] * q_inv;
    if (sg == 0) {
      kn[lane + 32 * i] = kx[i];
      qn[lane + 32 * i] = qx[i];
    }
  }
  float dots[2 * EACH];
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint is_own = 0u - uint(sg * EACH + i == row);
    #pragma unroll
    for (uint j = 0; j < N; ++j) {
      kr[i][j] = pick(is_own, kx[j], kr[i][j]);
    }
    dots[i] = lane_dot<N>(kr[i], kx);
    dots[EACH + i] = lane_dot<N>(kr[i], qx);
  }
  const float dot = fold<2 * EACH, 32>(dots, lane);
  if (lane % 4 == 0) {
    const float g_s = dot_row < row ? g_row : g;
    coef[lane / 16 * kBlock + dot_row] = lane < 16 ? u_coefficient(dot, g, g_s) : o_coefficient(dot, g, g_s);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float k_part[PER];
  float q_part[PER];
  load_part<PER>((threadgroup const float*)(kn), part, k_part);
  load_part<PER>((threadgroup const float*)(qn), part, q_part);
  const float y = state_times<2, PER>(s, k_part, q_part, lane);
  float acc = begin_row(kind, decay, y, v_in);
  #pragma unroll
  for (uint r = 0; r < kBlock; ++r) {
    // Only saves work: missing rows have a u of zero.
    if (r < row) {
      acc = fma(coef[kind * kBlock + r], u_old[r], acc);
    }
  }
  const float u = from_first_half(acc * beta, lane);
  if (part % 2 == 0 && is_inside) {
    if (kind == 1) {
      out[token * args.out_stride + head * args.out_head_stride + column] = fma(coef[kBlock + row], u, acc);
    } else {
      u_at[row * args.dv] = u;
      if (CONV) {
        past[tail_offset(args.conv, position) + v_channel] = inputs[v_channel];
      }
    }
  }
  if (tg.x == 0) {
    if (head % group == 0) {
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
      }
    }
    if (tid == 0) {
      g_old[row] = g;
    }
  }
  if (row < kBlock - 1) {
    return;
  }

  // The block is full.
  scale_state<PER>(s[0], decay);
  scale_state<PER>(s[1], decay);
  #pragma unroll 1
  for (uint r = 0; r < kBlock; ++r) {
    float weighted = u;
    if (r < row) {
      weighted = precise::exp(g - g_old[r]) * u_at[r * args.dv];
      if (args.is_wide != 0) {
        #pragma unroll
        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(device const float4*)(k_old + r * args.dk + dim_of(part, i));
          k_part[i] = f.x;
          k_part[i + 1] = f.y;
          k_part[i + 2] = f.z;
          k_part[i + 3] = f.w;
        }
      } else {
        load_state<float, PER>((device const float*)(k_old + r * args.dk), 1, args.dk, part, k_part);
      }
    } else {
      load_part<PER>((threadgroup const float*)(kn), part, k_part);
    }
    const float other = simd_shuffle_xor(weighted, ushort(2));
    add_row<PER>(s[0], k_part, mine == 0 ? weighted : other);
    add_row<PER>(s[1], k_part, mine == 0 ? other : weighted);
  }
  if (args.is_wide != 0) {
    #pragma unroll
    for (uint i = 0; i < PER; ++i) {
      store_pair(s_at + dim_of(part, i) * kPanel + pair, float2(s[0][i], s[1][i]));
    }
  } else {
    store_state<S, PER>(s_at + pair, width, pair < width ? args.dk : 0, part, s[0]);
    store_state<S, PER>(s_at + pair + 1, width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
}

template [[host_name("gdn_decode_f32_128")]]
kernel decltype(gdn_decode<float, 128, false>) gdn_decode<float, 128, false>;
template [[host_name("gdn_decode_f32_256")]]
kernel decltype(gdn_decode<float, 256, false>) gdn_decode<float, 256, false>;
template [[host_name("gdn_decode_bf16_128")]]
kernel decltype(gdn_decode<bfloat, 128, false>) gdn_decode<bfloat, 128, false>;
template [[host_name("gdn_decode_bf16_256")]]
kernel decltype(gdn_decode<bfloat, 256, false>) gdn_decode<bfloat, 256, false>;
template [[host_name("gdn_decode_conv_f32_128")]]
kernel decltype(gdn_decode<float, 128, true>) gdn_decode<float, 128, true>;
template [[host_name("gdn_decode_conv_f32_256")]]
kernel decltype(gdn_decode<float, 256, true>) gdn_decode<float, 256, true>;
template [[host_name("gdn_decode_conv_bf16_128")]]
kernel decltype(gdn_decode<bfloat, 128, true>) gdn_decode<bfloat, 128, true>;
template [[host_name("gdn_decode_conv_bf16_256")]]
kernel decltype(gdn_decode<bfloat, 256, true>) gdn_decode<bfloat, 256, true>;
