// gdn_prefill: the gated delta rule for sequences with several tokens, after gdn_prepare; gdn.h has the formulas.
#include "gdn.h"

// Walks the blocks of a sequence with S in registers. Grid: [panels, v_heads, sequences]
template <uint PER>
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_prefill(device const float* v [[buffer(0)]],
                        device const int* cu_seqlens [[buffer(1)]],
                        device const int* context_lens [[buffer(2)]],
                        device const int* state_slots [[buffer(3)]],
                        device const float* rows [[buffer(4)]],
                        device const float* gates [[buffer(5)]],
                        device float* state [[buffer(6)]],
                        device float* k_rows [[buffer(7)]],
                        device float* u_rows [[buffer(8)]],
                        device float* g_rows [[buffer(9)]],
                        device float* out [[buffer(10)]],
                        constant pagoda_args::Gdn& args [[buffer(11)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float parts[kBlock * 2 * kQuarters * kPanel];  // S^T k and S^T q by row and quarter
  threadgroup float gate[kGateFloats];

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

  device float* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk + column;
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + first + column;
  float s[PER];
  load_state<PER>((device const float*)(s_at), width, d0, count, s);

  for (uint block = 0; block < blocks; ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    const long index = first_block(cu_seqlens, tg.z) + block;
    device const float* kn = rows + (index * args.k_heads + k_head) * 2 * kBlock * args.dk;
    device const float* qn = kn + kBlock * args.dk;
    device const float* gate_from = gates + (index * args.v_heads + head) * kGateFloats;
    for (uint i = tid; i < kGateFloats; i += 128) {
      gate[i] = gate_from[i];
    }
    for (uint t = lo; t < hi; ++t) {
      float y_k = 0.0f;
      float y_q = 0.0f;
      #pragma unroll
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

    // Every simdgroup makes all rows of u, which it needs for its quarter of S; each writes a quarter of the outputs.
    float u[kBlock];
    #pragma unroll
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
        #pragma unroll
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
      #pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        add_row<PER>(s, kn + r * args.dk + d0, count, gate[2 * kBlock + r] * u[r]);
      }
    }
    // A place keeps the last row that was put there: those of the last block, and before it those of the last but one.
    // What was there before this step is not written again: other simdgroups may still read it.
    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kQuarters == sg && lane < width) {
        u_at[t * args.dv] = u[t];
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        device float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint i = keep * args.dk + tid; i < hi * args.dk; i += 128) {
          to[i] = kn[i];
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);  // parts, gates and old rows are read
  }
  if (uint(start + tokens) >= kBlock && lane < width) {
    store_state<PER>(s_at, width, d0, count, s);
  }
}

template [[host_name("gdn_prefill_128")]] kernel decltype(gdn_prefill<32>) gdn_prefill<32>;
template [[host_name("gdn_prefill_256")]] kernel decltype(gdn_prefill<64>) gdn_prefill<64>;
