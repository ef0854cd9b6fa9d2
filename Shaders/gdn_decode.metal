// gdn_decode: the gated delta rule for sequences with one token; gdn.h has the formulas and the layout.
#include "gdn.h"

// One token: reads S, appends a row, writes S only when the row fills the block. Grid: [panels, v_heads, sequences]
template <uint PER>
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
                       device float* state [[buffer(10)]],
                       device float* k_rows [[buffer(11)]],
                       device float* u_rows [[buffer(12)]],
                       device float* g_rows [[buffer(13)]],
                       device float* out [[buffer(14)]],
                       constant pagoda_args::Gdn& args [[buffer(15)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float kn[4 * 64];  // the token's key and query, normalised
  threadgroup float qn[4 * 64];
  threadgroup float coef[2 * kBlock];                 // of u and of o
  threadgroup float parts[2 * kQuarters * kPanel];    // S^T k and S^T q by quarters

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
  const uint column = min(lane, width - 1);  // lanes beyond the panel repeat its last column
  const uint d0 = sg * args.quarter;
  const uint count = min(args.quarter, args.dk - min(args.dk, d0));

  device float* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk + column;
  float s[PER];
  load_state<PER>((device const float*)(s_at), width, d0, count, s);

  device const float* k_in = k + token * args.k_stride + k_head * args.k_head_stride;
  device const float* q_in = q + token * args.q_stride + k_head * args.q_head_stride;
  const float k_inv = inverse_norm(k_in, args.dk, lane);
  const float q_inv = inverse_norm(q_in, args.dk, lane) * args.q_scale;
  for (uint d = tid; d < args.dk; d += 128) {
    kn[d] = k_in[d] * k_inv;
    qn[d] = q_in[d] * q_inv;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float y_k = 0.0f;
  float y_q = 0.0f;
  #pragma unroll
  for (uint i = 0; i < PER; ++i) {
    if (i < count) {
      y_k = fma(s[i], kn[d0 + i], y_k);
      y_q = fma(s[i], qn[d0 + i], y_q);
    }
  }
  parts[sg * kPanel + lane] = y_k;
  parts[(kQuarters + sg) * kPanel + lane] = y_q;

  device float* k_old = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
  device float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
  const float g = next_g(row > 0 ? g_old[row - 1] : 0.0f, a + token * args.a_stride, a_log, dt_bias, head);
  for (uint r = sg; r <= row; r += kQuarters) {
    float dot_k = 0.0f;
    float dot_q = 0.0f;
    for (uint d = lane; d < args.dk; d += 32) {
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

  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + first + column;
  const float decay = precise::exp(g);
  float u = fma(-decay, sum_quarters(parts + lane, kPanel),
                v[token * args.v_stride + head * args.v_head_stride + first + column]);
  float o = decay * sum_quarters(parts + kQuarters * kPanel + lane, kPanel);
  for (uint r = 0; r < row; ++r) {
    const float u_r = u_at[r * args.dv];
    u = fma(coef[r], u_r, u);
    o = fma(coef[kBlock + r], u_r, o);
  }
  u = u * sigmoid(b[token * args.b_stride + head]);
  o = fma(coef[kBlock + row], u, o);

  // S is read again, 8 numbers of a lane at a time: to keep it, and its addresses, in registers until here would leave
  // room for half as many threadgroups.
  if (row == kBlock - 1) {
    float weighted[kBlock - 1];
    #pragma unroll
    for (uint r = 0; r < kBlock - 1; ++r) {
      weighted[r] = precise::exp(g - g_old[r]) * u_at[r * args.dv];
    }
    #pragma unroll 1
    for (uint i = 0; i < count; i += 8) {
      float part[8];
      load_state<8>((device const float*)(s_at), width, d0 + i, count - i, part);
      scale_state<8>(part, decay);
      #pragma unroll
      for (uint r = 0; r < kBlock - 1; ++r) {
        add_row<8>(part, (device const float*)(k_old + r * args.dk + d0 + i), count - i, weighted[r]);
      }
      #pragma unroll
      for (uint j = 0; j < 8; ++j) {
        // Only saves work: part beyond count is not stored.
        if (i + j < count) {
          part[j] = fma(kn[d0 + i + j], u, part[j]);
        }
      }
      simdgroup_barrier(mem_flags::mem_device);  // lanes beyond the panel have read its last column
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
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
      }
    }
    if (tid == 0) {
      g_old[row] = g;
    }
  }
}

template [[host_name("gdn_decode_128")]] kernel decltype(gdn_decode<32>) gdn_decode<32>;
template [[host_name("gdn_decode_256")]] kernel decltype(gdn_decode<64>) gdn_decode<64>;
