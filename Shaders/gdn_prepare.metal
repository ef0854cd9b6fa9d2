// gdn_prepare: what blocks of several tokens have without the state, for gdn_prefill; gdn.h has the formulas.
#include "gdn.h"

// All that does not need S, for all blocks at once. rows: [blocks, k_heads, 2, 16, dk], normalised keys and queries;
// gates: [blocks, v_heads, kGateFloats]. Rows of the block before this step are copied; rows after its end are zero.
// Grid: [blocks, k_heads]
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_prepare(device const float* q [[buffer(0)]],
                        device const float* k [[buffer(1)]],
                        device const float* a [[buffer(2)]],
                        device const float* b [[buffer(3)]],
                        device const float* a_log [[buffer(4)]],
                        device const float* dt_bias [[buffer(5)]],
                        device const int* cu_seqlens [[buffer(6)]],
                        device const int* context_lens [[buffer(7)]],
                        device const int* state_slots [[buffer(8)]],
                        device const float* k_rows [[buffer(9)]],
                        device const float* g_rows [[buffer(10)]],
                        device float* rows [[buffer(11)]],
                        device float* gates [[buffer(12)]],
                        constant pagoda_args::Gdn& args [[buffer(13)]],
                        uint2 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float dots[2 * kBlock * kBlock];  // k_s . k_t and k_s . q_t at [s][t]
  threadgroup float g_tile[kBlock];

  uint seq = 0;
  uint end = args.num_sequences;
  while (end - seq > 1) {
    const uint middle = (seq + end) / 2;
    if (first_block(cu_seqlens, middle) <= tg.x) {
      seq = middle;
    } else {
      end = middle;
    }
  }
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int start = (context_lens[seq] - tokens) % int(kBlock);  // rows of the open block before this step
  const int row0 = int((tg.x - first_block(cu_seqlens, seq)) * kBlock) - start;  // the block's row 0 in this step
  if (tokens == 1 || row0 >= tokens) {
    return;
  }
  const long slot = state_slots[seq];
  const uint lo = uint(max(0, -row0));                        // the block's rows of this step: lo .. hi
  const uint hi = uint(min(int(kBlock), tokens - row0));
  device float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * args.dk;
  device float* qn = kn + kBlock * args.dk;
  device const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  for (uint t = sg; t < kBlock; t += kQuarters) {
    if (t >= lo && t < hi) {
      const long token = begin + row0 + int(t);
      device const float* k_in = k + token * args.k_stride + tg.y * args.k_head_stride;
      device const float* q_in = q + token * args.q_stride + tg.y * args.q_head_stride;
      const float k_inv = inverse_norm(k_in, args.dk, lane);
      const float q_inv = inverse_norm(q_in, args.dk, lane) * args.q_scale;
      for (uint d = lane; d < args.dk; d += 32) {
        kn[t * args.dk + d] = k_in[d] * k_inv;
        qn[t * args.dk + d] = q_in[d] * q_inv;
      }
    } else {
      for (uint d = lane; d < args.dk; d += 32) {
        kn[t * args.dk + d] = t < lo ? k_old[t * args.dk + d] : 0.0f;
        qn[t * args.dk + d] = 0.0f;
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_device);

  for (uint i = sg; i < kBlock * kBlock; i += kQuarters) {
    const uint s = i / kBlock;
    const uint t = i % kBlock;
    // Only saves work: no other dot is used below.
    if (s <= t && t >= lo && t < hi) {
      float dot_k = 0.0f;
      float dot_q = 0.0f;
      for (uint d = lane; d < args.dk; d += 32) {
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
  for (uint j = 0; j < group; ++j) {
    const uint head = tg.y * group + j;
    device float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    device const float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
    if (tid == 0) {
      float g = 0.0f;
      for (uint t = 0; t < kBlock; ++t) {
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
    for (uint i = tid; i < kBlock * kBlock; i += 128) {
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
