// gdn_prefill.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/gdn_prefill.metal"
#include "device/gpu/generated/gdn.h"

MSL_CONSTANT constexpr uint kSums = 8;
MSL_CONSTANT constexpr uint kStride = 32 / kSplit;


template <uint NC>
struct NextBlock {
  float4 rows[8];
  float gate[kGateFloats / 128];
  float v[2 * NC];
};
# 17 "Shaders/gdn_prefill.metal"
template <uint NC>
METAL_FUNC void load_block(MSL_DEVICE const float* rows, MSL_DEVICE const float* gate, MSL_DEVICE const float* v, int row0,
                           int tokens, uint num_columns, uint tid, MSL_CONSTANT pagoda_args::Gdn& args,
                           MSL_THREAD NextBlock<NC>& to) {

  for (uint i = 0; i < 8; ++i) {
    to.rows[i] = *(MSL_DEVICE const float4*)(rows + 4 * (tid + 128 * i));
  }

  for (uint i = 0; i < kGateFloats / 128; ++i) {
    to.gate[i] = gate[tid + 128 * i];
  }

  for (uint i = 0; i < 2 * NC; ++i) {
    const uint at = tid + 128 * i;

    const int row = clamp(row0 + int(at / (16 * NC)), 0, tokens - 1);
    to.v[i] = v[long(row) * args.v_stride + min(at % (16 * NC), num_columns - 1)];
  }
}

METAL_FUNC void set_four(float4 from, MSL_THREAD float (&to)[4]) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
  to[3] = from.w;
}


template <uint NC, uint T, uint PER>
METAL_FUNC void add_dims(MSL_THREAD const float (&s)[NC][PER], uint i, MSL_THREAD const float (&rows)[T][4],
                         MSL_THREAD float (&x)[NC * T]) {

  for (uint t = 0; t < T; ++t) {

    for (uint c = 0; c < NC; ++c) {
      const uint j = c * T + t;
      x[j] = i == 0 ? s[c][0] * rows[t][0] : fma(s[c][i], rows[t][0], x[j]);

      for (uint d = 1; d < 4; ++d) {
        x[j] = fma(s[c][i + d], rows[t][d], x[j]);
      }
    }
  }
}
# 65 "Shaders/gdn_prefill.metal"
template <typename S, uint D, uint NC>

MSL_KERNEL void gdn_prefill(MSL_DEVICE const float* v ,
                        MSL_DEVICE const int* cu_seqlens ,
                        MSL_DEVICE const int* context_lens ,
                        MSL_DEVICE const int* state_slots ,
                        MSL_DEVICE const float* rows ,
                        MSL_DEVICE const float* gates ,
                        MSL_DEVICE S* state ,
                        MSL_DEVICE float* k_rows ,
                        MSL_DEVICE float* u_rows ,
                        MSL_DEVICE float* g_rows ,
                        MSL_DEVICE float* out ,
                        MSL_CONSTANT pagoda_args::Gdn& args ,
                        uint3 tg ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  constexpr uint PER = D / kSplit;
  constexpr uint COLUMNS = 16 * NC;
  constexpr uint TOKENS = kSums / NC;
  constexpr uint TURNS = kBlock / TOKENS;
  MSL_TG_VAR(1, x_tile, [32*128], float)
  MSL_TG_VAR(2, gate, [kGateFloats], float)
  MSL_TG_VAR(3, v_tile, [kBlock*COLUMNS], float)

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

  MSL_DEVICE S* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + panel * args.dk +
                   (tg.x * COLUMNS - panel);
  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  MSL_DEVICE const float* v_at = v + long(begin) * args.v_stride + head * args.v_head_stride + tg.x * COLUMNS;
  const long first = first_block(cu_seqlens, tg.z);
  MSL_DEVICE const float* k_from = rows + (first * args.k_heads + k_head) * 2 * kBlock * D;
  MSL_DEVICE const float* gate_from = gates + (first * args.v_heads + head) * kGateFloats;
  const long k_step = long(args.k_heads) * 2 * kBlock * D;
  const long gate_step = long(args.v_heads) * kGateFloats;

  float s[NC][PER];

  for (uint c = 0; c < NC; ++c) {
    load_state<S, PER>((MSL_DEVICE const S*)(s_at + min(first_column + c, num_columns - 1)), width, args.dk, part, s[c]);
  }
  NextBlock<NC> next;
  load_block<NC>(k_from, gate_from, v_at, -start, tokens, num_columns, tid, args, next);

  for (uint block = 0; MSL_LOOP(block < blocks); ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    MSL_DEVICE const float* q_from = k_from + kBlock * D;

    for (uint i = 0; i < 8; ++i) {
      *(MSL_THREADGROUP float4*)(x_tile + 4 * (tid + 128 * i)) = next.rows[i];
    }

    for (uint i = 0; i < kGateFloats / 128; ++i) {
      gate[tid + 128 * i] = next.gate[i];
    }

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

    for (uint turn = 0; turn < TURNS; ++turn) {
      float x[kSums];

      for (uint i = 0; i < PER; i += 4) {
        float k[TOKENS][4];

        for (uint t = 0; t < TOKENS; ++t) {
          set_four(*(MSL_THREADGROUP const float4*)(x_tile + (turn * TOKENS + t) * D + dim_of(part, i)), k[t]);
        }
        add_dims<NC, TOKENS, PER>(s, i, k, x);
      }
      keep_loads_here();
      fold_to<kSums, kSplit, TOKENS, kStride>(x, lane);

      for (uint t = 0; t < TOKENS; ++t) {
        const uint row = turn * TOKENS + t;
        u[row] = begin_row(0, gate[kDecays + row], x[t], v_tile[row * COLUMNS + tile_column]);
      }
    }
    float o[TURNS];

    for (uint turn = 0; turn < TURNS; ++turn) {
      float x[kSums];

      for (uint i = 0; i < PER; i += 4) {
        float q[TOKENS][4];

        for (uint t = 0; t < TOKENS; ++t) {
          const uint row = turn * TOKENS + t;
          if (D == 128) {
            set_four(*(MSL_THREADGROUP const float4*)(x_tile + (kBlock + row) * 128 + dim_of(part, i)), q[t]);
          } else {
            set_four(*(MSL_DEVICE const float4*)(q_from + row * D + dim_of(part, i)), q[t]);
          }
        }
        add_dims<NC, TOKENS, PER>(s, i, q, x);
      }
      keep_loads_here();
      fold_to<kSums, kSplit, 1, kStride>(x, lane);
      o[turn] = begin_row(1, gate[kDecays + turn * TOKENS + part % TOKENS], x[0], 0.0f);
    }
# 202 "Shaders/gdn_prefill.metal"
    for (uint r = 0; r < kBlock; ++r) {
      u[r] = u[r] * gate[kBetas + r];
      if (r < lo) {
        u[r] = u_at[r * args.dv];
      }

      for (uint t4 = 0; t4 < kBlock; t4 += 4) {
        const float4 c4 = *(MSL_THREADGROUP const float4*)(gate + kCoefficients + r * kBlock + t4);
        const float c[4] = {c4.x, c4.y, c4.z, c4.w};

        for (uint j = 0; j < 4; ++j) {
          if (t4 + j > r) {
            u[t4 + j] = fma(c[j], u[r], u[t4 + j]);
          }
        }
      }
    }

    for (uint turn = 0; turn < TURNS; ++turn) {
      const uint t = turn * TOKENS + part % TOKENS;

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

      for (uint c = 0; c < NC; ++c) {
        scale_state<PER>(s[c], gate[kDecays + kBlock - 1]);
      }

      for (uint r = 0; r < kBlock; ++r) {
        float k[PER];
        load_part<PER>((MSL_THREADGROUP const float*)(x_tile + r * D), part, k);
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

      for (uint c = 0; c < NC; ++c) {
        round_state<S, PER>(s[c]);
      }
    }


    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);

    if (keep < hi) {

      for (uint t = 0; t < kBlock; ++t) {
        if (t >= keep && t < hi && t % TOKENS == part % TOKENS && is_inside) {
          u_at[t * args.dv] = u[t];
        }
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        MSL_DEVICE float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint t = keep + sg; MSL_LOOP(t < hi); t += kGroups) {
          for (uint d = lane; MSL_LOOP(d < args.dk); d += 32) {
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

    for (uint c = 0; c < NC; ++c) {
      if (first_column + c < num_columns) {
        store_state<S, PER>(s_at + first_column + c, width, args.dk, part, s[c]);
      }
    }
  }
}
# 1 "gdn_prefill.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"v", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"state_slots", 3, BindingKind::buffer, sizeof(int), false}, {"rows", 4, BindingKind::buffer, sizeof(float), false}, {"gates", 5, BindingKind::buffer, sizeof(float), false}, {"state", 6, BindingKind::buffer, sizeof(float), true}, {"k_rows", 7, BindingKind::buffer, sizeof(float), true}, {"u_rows", 8, BindingKind::buffer, sizeof(float), true}, {"g_rows", 9, BindingKind::buffer, sizeof(float), true}, {"out", 10, BindingKind::buffer, sizeof(float), true}, {"args", 11, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prefill<float, 128, 1>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prefill<float, 128, 2>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prefill<float, 256, 1>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"v", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"state_slots", 3, BindingKind::buffer, sizeof(int), false}, {"rows", 4, BindingKind::buffer, sizeof(float), false}, {"gates", 5, BindingKind::buffer, sizeof(float), false}, {"state", 6, BindingKind::buffer, sizeof(bfloat), true}, {"k_rows", 7, BindingKind::buffer, sizeof(float), true}, {"u_rows", 8, BindingKind::buffer, sizeof(float), true}, {"g_rows", 9, BindingKind::buffer, sizeof(float), true}, {"out", 10, BindingKind::buffer, sizeof(float), true}, {"args", 11, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prefill<bfloat, 128, 1>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (bfloat*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prefill<bfloat, 128, 2>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (bfloat*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prefill<bfloat, 256, 1>((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (bfloat*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (float*)in.buffers[10], *(const pagoda_args::Gdn*)in.buffers[11], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"gdn_prefill_f32_128_1", "gdn_prefill", msl_bindings_0, {}, 128, msl_entry_0},
  {"gdn_prefill_f32_128_2", "gdn_prefill", msl_bindings_0, {}, 128, msl_entry_1},
  {"gdn_prefill_f32_256_1", "gdn_prefill", msl_bindings_0, {}, 128, msl_entry_2},
  {"gdn_prefill_bf16_128_1", "gdn_prefill", msl_bindings_1, {}, 128, msl_entry_3},
  {"gdn_prefill_bf16_128_2", "gdn_prefill", msl_bindings_1, {}, 128, msl_entry_4},
  {"gdn_prefill_bf16_256_1", "gdn_prefill", msl_bindings_1, {}, 128, msl_entry_5},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_prefill_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
