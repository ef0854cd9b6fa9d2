// gdn_prepare: computes everything in blocks of several tokens that does not need the state, for gdn_prefill; gdn.h has
// the formulas.
#include "gdn.h"

// Handles all blocks in parallel. rows: [blocks, k_heads, 2, 16, D], normalised keys and queries, zeros after dk;
// gates: [blocks, v_heads, kGateFloats]. Rows of the block from before this step are copied; rows after its end are
// zero. Grid: [blocks, k_heads]
template <uint D>
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
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;       // rows per simdgroup
  threadgroup float k_tile[kBlock * D];         // normalised keys
  threadgroup float dots[2 * kBlock * kBlock];  // k_s . k_t and k_s . q_t at [s][t]

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
  const int start = (context_lens[seq] - tokens) % int(kBlock);  // rows of the open block from before this step
  const int row0 = int((tg.x - first_block(cu_seqlens, seq)) * kBlock) - start;  // in this step, of the block's row 0
  if (tokens == 1 || row0 >= tokens) {
    return;
  }
  const long slot = state_slots[seq];
  const uint lo = uint(max(0, -row0));                        // the block's rows in this step: lo .. hi
  const uint hi = uint(min(int(kBlock), tokens - row0));
  device float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * D;
  device float* qn = kn + kBlock * D;
  device const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  float kx[EACH][N];
  float qx[EACH][N];
  #pragma unroll
  for (uint j = 0; j < EACH; ++j) {
    const uint t = sg * EACH + j;
    #pragma unroll
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
  #pragma unroll
  for (uint j = 0; j < EACH; ++j) {
    const uint t = sg * EACH + j;
    const bool is_new = t >= lo && t < hi;
    const float k_inv = inverse_norm<N>(kx[j], lane);
    const float q_inv = inverse_norm<N>(qx[j], lane) * args.q_scale;
    #pragma unroll
    for (uint i = 0; i < N; ++i) {
      kx[j][i] = is_new ? kx[j][i] * k_inv : kx[j][i];
      qx[j][i] = qx[j][i] * q_inv;
      k_tile[t * D + lane + 32 * i] = kx[j][i];
      kn[t * D + lane + 32 * i] = kx[j][i];
      qn[t * D + lane + 32 * i] = qx[j][i];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // Lane 16 kind + s ends up with the dot of row s with row t's key (kind 0) or query (kind 1).
  #pragma unroll
  for (uint j = 0; j < EACH; ++j) {
    float x[2 * kBlock];
    #pragma unroll
    for (uint s = 0; s < kBlock; ++s) {
      float ks[N];
      #pragma unroll
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
  for (uint j = 0; j < group; ++j) {
    const uint head = tg.y * group + j;
    device float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    const bool is_new = t >= lo && t < hi;
    const float g_old = t < lo ? g_rows[slot * args.g_rows_slot_stride + head * kBlock + t] : 0.0f;
    float log_decay = 0.0f;  // rows that are not new add nothing
    float beta = 0.0f;
    if (is_new) {
      const long token = begin + row0 + int(t);
      log_decay = softplus(a[token * args.a_stride + head] + dt_bias[head]);
      beta = sigmoid(b[token * args.b_stride + head]) * args.beta_scale;
    }
    const float rate = precise::exp(a_log[head]);
    float running = 0.0f;
    float g = 0.0f;
    for (uint r = 0; r < kBlock; ++r) {
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
    #pragma unroll
    for (uint i = tid; i < kBlock * kBlock; i += 128) {
      const uint s = i / kBlock;
      const float g_s = simd_shuffle(g, ushort(s));
      float c_u = 0.0f;
      float c_o = 0.0f;
      // Only saves work: no other coefficient is used.
      if (s <= t && is_new) {
        c_u = u_coefficient(dots[i], g, g_s);
        c_o = o_coefficient(dots[kBlock * kBlock + i], g, g_s);
      }
      to[kCoefficients + i] = c_u;
      to[kCoefficients + kBlock * kBlock + i] = c_o;
    }
  }
}

template [[host_name("gdn_prepare_128")]] kernel decltype(gdn_prepare<128>) gdn_prepare<128>;
template [[host_name("gdn_prepare_256")]] kernel decltype(gdn_prepare<256>) gdn_prepare<256>;
