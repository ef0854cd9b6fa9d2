// The text of gdn_prefill.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gdn_prefill_source() noexcept {
  return {"gdn_prefill",
R"msl(#include "gdn.h"
constant constexpr uint kSums = 8;
constant constexpr uint kStride = 32 / kSplit;
template <uint NC>
struct NextBlock {
  float4 rows[8];
  float gate[kGateFloats / 128];
  float v[2 * NC];
};
template <uint NC>
METAL_FUNC void load_block(device const float* rows, device const float* gate, device const float* v, int row0,
                           int tokens, uint num_columns, uint tid, constant pagoda_args::Gdn& args,
                           thread NextBlock<NC>& to) {
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    to.rows[i] = *(device const float4*)(rows + 4 * (tid + 128 * i));
  }
#pragma unroll
  for (uint i = 0; i < kGateFloats / 128; ++i) {
    to.gate[i] = gate[tid + 128 * i];
  }
#pragma unroll
  for (uint i = 0; i < 2 * NC; ++i) {
    const uint at = tid + 128 * i;
    const int row = clamp(row0 + int(at / (16 * NC)), 0, tokens - 1);
    to.v[i] = v[long(row) * args.v_stride + min(at % (16 * NC), num_columns - 1)];
  }
}
METAL_FUNC void set_four(float4 from, thread float (&to)[4]) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
  to[3] = from.w;
}
template <uint NC, uint T, uint PER>
METAL_FUNC void add_dims(thread const float (&s)[NC][PER], uint i, thread const float (&rows)[T][4],
                         thread float (&x)[NC * T]) {
#pragma unroll
  for (uint t = 0; t < T; ++t) {
#pragma unroll
    for (uint c = 0; c < NC; ++c) {
      const uint j = c * T + t;
      x[j] = i == 0 ? s[c][0] * rows[t][0] : fma(s[c][i], rows[t][0], x[j]);
#pragma unroll
      for (uint d = 1; d < 4; ++d) {
        x[j] = fma(s[c][i + d], rows[t][d], x[j]);
      }
    }
  }
}
template <typename S, uint D, uint NC>
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_prefill(device const float* v [[buffer(0)]],
                        device const int* cu_seqlens [[buffer(1)]],
                        device const int* context_lens [[buffer(2)]],
                        device const int* state_slots [[buffer(3)]],
                        device const float* rows [[buffer(4)]],
                        device const float* gates [[buffer(5)]],
                        device S* state [[buffer(6)]],
                        device float* k_rows [[buffer(7)]],
                        device float* u_rows [[buffer(8)]],
                        device float* g_rows [[buffer(9)]],
                        device float* out [[buffer(10)]],
                        constant pagoda_args::Gdn& args [[buffer(11)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint PER = D / kSplit;
  constexpr uint COLUMNS = 16 * NC;
  constexpr uint TOKENS = kSums / NC;
  constexpr uint TURNS = kBlock / TOKENS;
  MSL_SHARED float x_tile[32 * 128];
  MSL_SHARED float gate[kGateFloats];
  MSL_SHARED float v_tile[kBlock * COLUMNS];
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
  const uint part = lane / kStride;
  const uint own = part / TOKENS;
  const uint first_column = (sg * kStride + lane % kStride) * NC;
  const uint tile_column = first_column + own;
  const uint num_columns = min(COLUMNS, args.dv - tg.x * COLUMNS);
  const bool is_inside = tile_column < num_columns;
  const uint column = tg.x * COLUMNS + min(tile_column, num_columns - 1);
  const uint panel = column / kPanel * kPanel;
  const uint width = min(kPanel, args.dv - panel);
  device S* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + panel * args.dk +
                   (tg.x * COLUMNS - panel);
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  device const float* v_at = v + long(begin) * args.v_stride + head * args.v_head_stride + tg.x * COLUMNS;
  const long first = first_block(cu_seqlens, tg.z);
  device const float* k_from = rows + (first * args.k_heads + k_head) * 2 * kBlock * D;
  device const float* gate_from = gates + (first * args.v_heads + head) * kGateFloats;
  const long k_step = long(args.k_heads) * 2 * kBlock * D;
  const long gate_step = long(args.v_heads) * kGateFloats;
  float s[NC][PER];
  #pragma unroll
  for (uint c = 0; c < NC; ++c) {
    load_state<S, PER>((device const S*)(s_at + min(first_column + c, num_columns - 1)), width, args.dk, part, s[c]);
  }
  NextBlock<NC> next;
  load_block<NC>(k_from, gate_from, v_at, -start, tokens, num_columns, tid, args, next);
  for (uint block = 0; block < blocks; ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    device const float* q_from = k_from + kBlock * D;
    #pragma unroll
    for (uint i = 0; i < 8; ++i) {
      *(threadgroup float4*)(x_tile + 4 * (tid + 128 * i)) = next.rows[i];
    }
    #pragma unroll
    for (uint i = 0; i < kGateFloats / 128; ++i) {
      gate[tid + 128 * i] = next.gate[i];
    }
    #pragma unroll
    for (uint i = 0; i < 2 * NC; ++i) {
      v_tile[tid + 128 * i] = next.v[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (block + 1 < blocks) {
      k_from += k_step;
      gate_from += gate_step;
      load_block<NC>(k_from, gate_from, v_at, row0 + int(kBlock), tokens, num_columns, tid, args, next);
    }
    float u[kBlock];
    #pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn) {
      float x[kSums];
      #pragma unroll
      for (uint i = 0; i < PER; i += 4) {
        float k[TOKENS][4];
        #pragma unroll
        for (uint t = 0; t < TOKENS; ++t) {
          set_four(*(threadgroup const float4*)(x_tile + (turn * TOKENS + t) * D + dim_of(part, i)), k[t]);
        }
        add_dims<NC, TOKENS, PER>(s, i, k, x);
      }
      keep_loads_here();
      fold_to<kSums, kSplit, TOKENS, kStride>(x, lane);
      #pragma unroll
      for (uint t = 0; t < TOKENS; ++t) {
        const uint row = turn * TOKENS + t;
        u[row] = begin_row(0, gate[kDecays + row], x[t], v_tile[row * COLUMNS + tile_column]);
      }
    }
    float o[TURNS];
    #pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn) {
      float x[kSums];
      #pragma unroll
      for (uint i = 0; i < PER; i += 4) {
        float q[TOKENS][4];
        #pragma unroll
        for (uint t = 0; t < TOKENS; ++t) {
          const uint row = turn * TOKENS + t;
          if (D == 128) {
            set_four(*(threadgroup const float4*)(x_tile + (kBlock + row) * 128 + dim_of(part, i)), q[t]);
          } else {
            set_four(*(device const float4*)(q_from + row * D + dim_of(part, i)), q[t]);
          }
        }
        add_dims<NC, TOKENS, PER>(s, i, q, x);
      }
      keep_loads_here();
      fold_to<kSums, kSplit, 1, kStride>(x, lane);
      o[turn] = begin_row(1, gate[kDecays + turn * TOKENS + part % TOKENS], x[0], 0.0f);
    }
    #pragma unroll
    for (uint r = 0; r < kBlock; ++r) {
      u[r] = u[r] * gate[kBetas + r];
      if (r < lo) {
        u[r] = u_at[r * args.dv];
      }
      #pragma unroll
      for (uint t4 = 0; t4 < kBlock; t4 += 4) {
        const float4 c4 = *(threadgroup const float4*)(gate + kCoefficients + r * kBlock + t4);
        const float c[4] = {c4.x, c4.y, c4.z, c4.w};
        #pragma unroll
        for (uint j = 0; j < 4; ++j) {
          if (t4 + j > r) {
            u[t4 + j] = fma(c[j], u[r], u[t4 + j]);
          }
        }
      }
    }
    #pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn) {
      const uint t = turn * TOKENS + part % TOKENS;
      #pragma unroll
      for (uint r = 0; r < (turn + 1) * TOKENS; ++r) {
        if (r <= t) {
          o[turn] = fma(gate[kCoefficients + (kBlock + r) * kBlock + t], u[r], o[turn]);
        }
      }
      if (t >= lo && t < hi && is_inside) {
        out[long(begin + row0 + int(t)) * args.out_stride + head * args.out_head_stride + column] = o[turn];
      }
    }
    if (hi == kBlock) {
      #pragma unroll
      for (uint c = 0; c < NC; ++c) {
        scale_state<PER>(s[c], gate[kDecays + kBlock - 1]);
      }
      #pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        float k[PER];
        load_part<PER>((threadgroup const float*)(x_tile + r * D), part, k);
        const float weighted = gate[kWeights + r] * u[r];
        if (NC == 1) {
          add_row<PER>(s[0], k, weighted);
        } else {
          const float other = simd_shuffle_xor(weighted, ushort(TOKENS * kStride));
          add_row<PER>(s[0], k, own == 0 ? weighted : other);
          add_row<PER>(s[NC - 1], k, own == 0 ? other : weighted);
        }
        keep_loads_here();
      }
      #pragma unroll
      for (uint c = 0; c < NC; ++c) {
        round_state<S, PER>(s[c]);
      }
    }
    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
    if (keep < hi) {
      #pragma unroll
      for (uint t = 0; t < kBlock; ++t) {
        if (t >= keep && t < hi && t % TOKENS == part % TOKENS && is_inside) {
          u_at[t * args.dv] = u[t];
        }
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        device float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint t = keep + sg; t < hi; t += kGroups) {
          for (uint d = lane; d < args.dk; d += 32) {
            to[t * args.dk + d] = x_tile[t * D + d];
          }
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  }
  if (uint(start + tokens) >= kBlock) {
    #pragma unroll
    for (uint c = 0; c < NC; ++c) {
      if (first_column + c < num_columns) {
        store_state<S, PER>(s_at + first_column + c, width, args.dk, part, s[c]);
      }
    }
  }
}
MSL_INSTANCE(gdn_prefill_f32_128_1, gdn_prefill, float, 128, 1)
MSL_INSTANCE(gdn_prefill_f32_128_2, gdn_prefill, float, 128, 2)
MSL_INSTANCE(gdn_prefill_f32_256_1, gdn_prefill, float, 256, 1)
MSL_INSTANCE(gdn_prefill_bf16_128_1, gdn_prefill, bfloat, 128, 1)
MSL_INSTANCE(gdn_prefill_bf16_128_2, gdn_prefill, bfloat, 128, 2)
MSL_INSTANCE(gdn_prefill_bf16_256_1, gdn_prefill, bfloat, 256, 1)
)msl",
R"msl(#define MSL_KERNEL_gdn_prefill(BOUNDS, S, D, NC) MSL_GLOBAL(BOUNDS)(const float* v, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* rows, const float* gates, S* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Gdn args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gdn_prefill<S, D, NC>(v, cu_seqlens, context_lens, state_slots, rows, gates, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_gdn_prefill_f32_128_1 MSL_KERNEL_gdn_prefill((128), float, 128, 1)
#define MSL_ENTRY_gdn_prefill_f32_128_2 MSL_KERNEL_gdn_prefill((128), float, 128, 2)
#define MSL_ENTRY_gdn_prefill_f32_256_1 MSL_KERNEL_gdn_prefill((128), float, 256, 1)
#define MSL_ENTRY_gdn_prefill_bf16_128_1 MSL_KERNEL_gdn_prefill((128), bfloat, 128, 1)
#define MSL_ENTRY_gdn_prefill_bf16_128_2 MSL_KERNEL_gdn_prefill((128), bfloat, 128, 2)
#define MSL_ENTRY_gdn_prefill_bf16_256_1 MSL_KERNEL_gdn_prefill((128), bfloat, 256, 1)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
