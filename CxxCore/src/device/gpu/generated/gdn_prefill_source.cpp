// The text of gdn_prefill.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gdn_prefill_source() noexcept {
  return {"gdn_prefill",
R"msl(#include "gdn.h"
constant constexpr uint kColumns = 16;
struct NextBlock {
  float4 rows[8];
  float gate[kGateFloats / 128];
  float v[2];
};
METAL_FUNC void load_block(device const float* rows, device const float* gate, device const float* v, int row0,
                           int tokens, uint num_columns, uint tid, constant pagoda_args::Gdn& args,
                           thread NextBlock& to) {
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    to.rows[i] = *(device const float4*)(rows + 4 * (tid + 128 * i));
  }
#pragma unroll
  for (uint i = 0; i < kGateFloats / 128; ++i) {
    to.gate[i] = gate[tid + 128 * i];
  }
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    const int row = clamp(row0 + int(tid / kColumns + 8 * i), 0, tokens - 1);
    to.v[i] = v[long(row) * args.v_stride + clamp(tid % kColumns, 0u, num_columns - 1)];
  }
}
template <typename S, uint D>
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
  MSL_SHARED float x_tile[32 * 128];
  MSL_SHARED float gate[kGateFloats];
  MSL_SHARED float v_tile[kBlock * kColumns];
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
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint tile_column = sg * 4 + lane / kSplit;
  const uint num_columns = min(kColumns, args.dv - tg.x * kColumns);
  const bool is_inside = tile_column < num_columns;
  const uint column = tg.x * kColumns + min(tile_column, num_columns - 1);
  const uint panel = column / kPanel * kPanel;
  const uint width = min(kPanel, args.dv - panel);
  device S* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + panel * args.dk + (column - panel);
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  device const float* v_at = v + long(begin) * args.v_stride + head * args.v_head_stride + tg.x * kColumns;
  const long first = first_block(cu_seqlens, tg.z);
  device const float* k_from = rows + (first * args.k_heads + k_head) * 2 * kBlock * D;
  device const float* gate_from = gates + (first * args.v_heads + head) * kGateFloats;
  const long k_step = long(args.k_heads) * 2 * kBlock * D;
  const long gate_step = long(args.v_heads) * kGateFloats;
  float s[1][PER];
  load_state<S, PER>((device const S*)(s_at), width, args.dk, part, s[0]);
  NextBlock next;
  load_block(k_from, gate_from, v_at, -start, tokens, num_columns, tid, args, next);
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
    v_tile[tid] = next.v[0];
    v_tile[tid + 128] = next.v[1];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (block + 1 < blocks) {
      k_from += k_step;
      gate_from += gate_step;
      load_block(k_from, gate_from, v_at, row0 + int(kBlock), tokens, num_columns, tid, args, next);
    }
    float acc[kBlock];
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      float k[PER];
      float q[PER];
      load_part<PER>((threadgroup const float*)(x_tile + t * D), part, k);
      if (D == 128) {
        load_part<PER>((threadgroup const float*)(x_tile + (kBlock + t) * 128), part, q);
      } else {
        #pragma unroll
        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(device const float4*)(q_from + t * D + dim_of(part, i));
          q[i] = f.x;
          q[i + 1] = f.y;
          q[i + 2] = f.z;
          q[i + 3] = f.w;
        }
      }
      const float y = state_times<1, PER>(s, k, q, lane);
      acc[t] = begin_row(kind, gate[kDecays + t], y, v_tile[t * kColumns + tile_column]);
      keep_loads_here();
    }
    float u[kBlock];
    #pragma unroll
    for (uint r = 0; r < kBlock; ++r) {
      u[r] = from_first_half(acc[r] * gate[kBetas + r], lane);
      if (r < lo) {
        u[r] = u_at[r * args.dv];
      }
      #pragma unroll
      for (uint t4 = 0; t4 < kBlock; t4 += 4) {
        const float4 c4 =
            *(threadgroup const float4*)(gate + kCoefficients + (kind * kBlock + r) * kBlock + t4);
        const float c[4] = {c4.x, c4.y, c4.z, c4.w};
        #pragma unroll
        for (uint j = 0; j < 4; ++j) {
          if (t4 + j >= r) {
            acc[t4 + j] = fma(c[j], u[r], acc[t4 + j]);
          }
        }
      }
      keep_loads_here();
    }
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const uint t = 4 * i + part % 4;
      const float low = part % 2 == 0 ? acc[4 * i] : acc[4 * i + 1];
      const float high = part % 2 == 0 ? acc[4 * i + 2] : acc[4 * i + 3];
      if (kind == 1 && t >= lo && t < hi && is_inside) {
        out[long(begin + row0 + int(t)) * args.out_stride + head * args.out_head_stride + column] =
            part % 4 < 2 ? low : high;
      }
    }
    if (hi == kBlock) {
      scale_state<PER>(s[0], gate[kDecays + kBlock - 1]);
      #pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        float k[PER];
        load_part<PER>((threadgroup const float*)(x_tile + r * D), part, k);
        add_row<PER>(s[0], k, gate[kWeights + r] * u[r]);
        keep_loads_here();
      }
      round_state<S, PER>(s[0]);
    }
    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kSplit == part && is_inside) {
        u_at[t * args.dv] = u[t];
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
  if (uint(start + tokens) >= kBlock && is_inside) {
    store_state<S, PER>(s_at, width, args.dk, part, s[0]);
  }
}
MSL_INSTANCE(gdn_prefill_f32_128, gdn_prefill, float, 128)
MSL_INSTANCE(gdn_prefill_f32_256, gdn_prefill, float, 256)
MSL_INSTANCE(gdn_prefill_bf16_128, gdn_prefill, bfloat, 128)
MSL_INSTANCE(gdn_prefill_bf16_256, gdn_prefill, bfloat, 256)
)msl",
R"msl(#define MSL_KERNEL_gdn_prefill(BOUNDS, S, D) MSL_GLOBAL(BOUNDS)(const float* v, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* rows, const float* gates, S* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Gdn args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gdn_prefill<S, D>(v, cu_seqlens, context_lens, state_slots, rows, gates, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_gdn_prefill_f32_128 MSL_KERNEL_gdn_prefill((128), float, 128)
#define MSL_ENTRY_gdn_prefill_f32_256 MSL_KERNEL_gdn_prefill((128), float, 256)
#define MSL_ENTRY_gdn_prefill_bf16_128 MSL_KERNEL_gdn_prefill((128), bfloat, 128)
#define MSL_ENTRY_gdn_prefill_bf16_256 MSL_KERNEL_gdn_prefill((128), bfloat, 256)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
