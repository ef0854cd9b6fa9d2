// The text of token_attention.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource token_attention_source() noexcept {
  return {"token_attention",
R"msl(#pragma METAL fp contract(off)
// token_attention: rope_and_cache and paged_attention of single tokens in one launch, with the bits of both.
//
// Only the threadgroup of a sequence's last partition reads the new token's key and value, and it writes them itself;
// this limits it to eight heads per KV head: more would need several threadgroups. Every partition rotates the queries.
#include "args/token_attention.h"
#include "attention_tile.h"
#include "rope.h"

// Writes the token's queries to s_tile, as floats; in the last partition, also its key and value to the cache.
template <typename T>
METAL_FUNC void rotate_heads(device const float* q, device const float* k, device const float* v,
                             device const float* q_weight, device const float* k_weight, device const float* inv_freq,
                             int position, long slot, device T* k_cache, device T* v_cache, threadgroup float* s_tile,
                             threadgroup float* k_head, bool is_last, uint tid, uint sg, uint lane,
                             constant pagoda_args::RopeAndCache& args, uint group) {
  const uint num_heads = group + (is_last ? 1 : 0);
  for (uint h = sg; h < num_heads; h += kSimdgroups) {
    const bool is_key = h == group;
    norm_and_rotate(is_key ? k : q + long(h) * args.q_head_stride, is_key ? k_weight : q_weight, inv_freq, position,
                    args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0,
                    is_key ? k_head : s_tile + h * kScores, lane);
  }
  if (is_last) {
    const long block = slot / long(args.block_size);
    const long offset = slot % long(args.block_size);
    if (sg == group % kSimdgroups) {  // this simdgroup has the key
      device T* to = k_cache + block * args.k_block_stride + offset * args.k_slot_stride;
      for (uint d = lane; d < args.dim; d += 32) {
        to[d] = T(k_head[d]);
      }
    }
    device T* to = v_cache + block * args.v_block_stride + offset * args.v_slot_stride;
    for (uint d = tid; d < args.dim; d += kThreads) {
      to[d] = T(v[d]);
    }
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
}

// Grid: [sequences, KV heads, partitions]; q, k, v: the unrotated projections, one row per sequence
template <typename T>
[[max_total_threads_per_threadgroup(128)]]
kernel void token_attention(device const float* q [[buffer(0)]],
                            device const float* k [[buffer(1)]],
                            device const float* v [[buffer(2)]],
                            device const float* q_weight [[buffer(3)]],
                            device const float* k_weight [[buffer(4)]],
                            device const int* positions [[buffer(5)]],
                            device const float* inv_freq [[buffer(6)]],
                            device const long* slot_mapping [[buffer(7)]],
                            device T* k_cache [[buffer(8)]],
                            device T* v_cache [[buffer(9)]],
                            device const int* context_lens [[buffer(10)]],
                            device const int* block_tables [[buffer(11)]],
                            device const float* sinks [[buffer(12)]],
                            device float* partials [[buffer(13)]],
                            device float* out [[buffer(14)]],
                            constant pagoda_args::TokenAttention& args [[buffer(15)]],
                            uint3 tg [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8;
  constexpr uint EACH = ROWS * kMaxDim / kThreads;  // output elements per thread
  threadgroup T q_tile[ROWS * kQueryStride];
  threadgroup float s_tile[ROWS * kScores];  // queries; then scores, weights and the partition's output
  threadgroup T v_tail[8 * kMaxDim];         // the values of the last 8 keys, zero past the end
  threadgroup float k_head[kMaxDim];
  threadgroup float stats[ROWS * kStats];

  RowTile tile;
  tile.seq = tg.x;
  tile.begin = int(tg.x);
  tile.tokens = 1;
  tile.context = context_lens[tg.x];
  tile.row0 = 0;
  tile.num_rows = int(args.attention.group);
  tile.first_part = tg.z;
  tile.last_part = tg.z;
  tile.is_split = args.attention.is_split != 0;
  const int position = tile.context - 1;
  const int first_key = int(tg.z * kPartition);
  const bool is_last = tg.z == uint(position) / kPartition;
  const bool is_seen = !use_window || first_key + int(kPartition) > position - int(args.attention.window) + 1;
  if (first_key > position || !is_seen) {
    return;
  }
  rotate_heads<T>(q + long(tg.x) * args.rope.q_stride + long(tg.y) * args.attention.group * args.rope.q_head_stride,
                  k + long(tg.x) * args.rope.k_stride + long(tg.y) * args.rope.k_head_stride,
                  v + long(tg.x) * args.rope.v_stride + long(tg.y) * args.rope.v_head_stride, q_weight, k_weight,
                  inv_freq, positions[tg.x], slot_mapping[tg.x],
                  k_cache + long(tg.y) * args.rope.k_cache_head_stride,
                  v_cache + long(tg.y) * args.rope.v_cache_head_stride, s_tile, k_head, is_last, tid, sg, lane,
                  args.rope, args.attention.group);
  for (uint i = tid; i < ROWS * kMaxDim; i += kThreads) {
    const uint r = i / kMaxDim;
    const uint d = i % kMaxDim;
    float value = 0.0f;
    if (d < args.rope.dim) {
      value = s_tile[min(r, args.attention.group - 1) * kScores + d];
    }
    q_tile[r * kQueryStride + d] = T(value);
  }
  float total[EACH];
  begin_rows<1, EACH>(stats, total, tid);
  add_partition<T, 1, EACH>((device const T*)(k_cache), (device const T*)(v_cache),
                            block_tables + long(tg.x) * args.attention.table_stride,
                            (threadgroup const T*)(q_tile), s_tile, v_tail, stats, total, tile, tg.z, tg.y, tid, sg,
                            lane, args.attention);
  store_rows<EACH>(total, (threadgroup const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid,
                   args.attention);
}

template [[host_name("token_attention_f32")]] kernel decltype(token_attention<float>) token_attention<float>;
template [[host_name("token_attention_f16")]] kernel decltype(token_attention<half>) token_attention<half>;
template [[host_name("token_attention_bf16")]] kernel decltype(token_attention<bfloat>) token_attention<bfloat>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 5 "Shaders/token_attention.metal"
#include "Shaders/args/token_attention.h"
#include "Shaders/attention_tile.h"
#include "Shaders/rope.h"


template <typename T>
METAL_FUNC void rotate_heads(MSL_DEVICE const float* q, MSL_DEVICE const float* k, MSL_DEVICE const float* v,
                             MSL_DEVICE const float* q_weight, MSL_DEVICE const float* k_weight, MSL_DEVICE const float* inv_freq,
                             int position, long slot, MSL_DEVICE T* k_cache, MSL_DEVICE T* v_cache, MSL_THREADGROUP float* s_tile,
                             MSL_THREADGROUP float* k_head, bool is_last, uint tid, uint sg, uint lane,
                             MSL_CONSTANT pagoda_args::RopeAndCache& args, uint group) {
  const uint num_heads = group + (is_last ? 1 : 0);
  for (uint h = sg; h < num_heads; h += kSimdgroups) {
    const bool is_key = h == group;
    norm_and_rotate(is_key ? k : q + long(h) * args.q_head_stride, is_key ? k_weight : q_weight, inv_freq, position,
                    args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0,
                    is_key ? k_head : s_tile + h * kScores, lane);
  }
  if (is_last) {
    const long block = slot / long(args.block_size);
    const long offset = slot % long(args.block_size);
    if (sg == group % kSimdgroups) {
      MSL_DEVICE T* to = k_cache + block * args.k_block_stride + offset * args.k_slot_stride;
      for (uint d = lane; d < args.dim; d += 32) {
        to[d] = T(k_head[d]);
      }
    }
    MSL_DEVICE T* to = v_cache + block * args.v_block_stride + offset * args.v_slot_stride;
    for (uint d = tid; d < args.dim; d += kThreads) {
      to[d] = T(v[d]);
    }
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
}


template <typename T>

MSL_KERNEL void token_attention(MSL_DEVICE const float* q ,
                            MSL_DEVICE const float* k ,
                            MSL_DEVICE const float* v ,
                            MSL_DEVICE const float* q_weight ,
                            MSL_DEVICE const float* k_weight ,
                            MSL_DEVICE const int* positions ,
                            MSL_DEVICE const float* inv_freq ,
                            MSL_DEVICE const long* slot_mapping ,
                            MSL_DEVICE T* k_cache ,
                            MSL_DEVICE T* v_cache ,
                            MSL_DEVICE const int* context_lens ,
                            MSL_DEVICE const int* block_tables ,
                            MSL_DEVICE const float* sinks ,
                            MSL_DEVICE float* partials ,
                            MSL_DEVICE float* out ,
                            MSL_CONSTANT pagoda_args::TokenAttention& args ,
                            uint3 tg ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  constexpr uint ROWS = 8;
  constexpr uint EACH = ROWS * kMaxDim / kThreads;
  MSL_TG_VAR(1, q_tile, [ROWS*kQueryStride], T)
  MSL_TG_VAR(2, s_tile, [ROWS*kScores], float)
  MSL_TG_VAR(3, v_tail, [8*kMaxDim], T)
  MSL_TG_VAR(4, k_head, [kMaxDim], float)
  MSL_TG_VAR(5, stats, [ROWS*kStats], float)

  RowTile tile;
  tile.seq = tg.x;
  tile.begin = int(tg.x);
  tile.tokens = 1;
  tile.context = context_lens[tg.x];
  tile.row0 = 0;
  tile.num_rows = int(args.attention.group);
  tile.first_part = tg.z;
  tile.last_part = tg.z;
  tile.is_split = args.attention.is_split != 0;
  const int position = tile.context - 1;
  const int first_key = int(tg.z * kPartition);
  const bool is_last = tg.z == uint(position) / kPartition;
  const bool is_seen = !use_window || first_key + int(kPartition) > position - int(args.attention.window) + 1;
  if (first_key > position || !is_seen) {
    return;
  }
  rotate_heads<T>(q + long(tg.x) * args.rope.q_stride + long(tg.y) * args.attention.group * args.rope.q_head_stride,
                  k + long(tg.x) * args.rope.k_stride + long(tg.y) * args.rope.k_head_stride,
                  v + long(tg.x) * args.rope.v_stride + long(tg.y) * args.rope.v_head_stride, q_weight, k_weight,
                  inv_freq, positions[tg.x], slot_mapping[tg.x],
                  k_cache + long(tg.y) * args.rope.k_cache_head_stride,
                  v_cache + long(tg.y) * args.rope.v_cache_head_stride, s_tile, k_head, is_last, tid, sg, lane,
                  args.rope, args.attention.group);
  for (uint i = tid; i < ROWS * kMaxDim; i += kThreads) {
    const uint r = i / kMaxDim;
    const uint d = i % kMaxDim;
    float value = 0.0f;
    if (d < args.rope.dim) {
      value = s_tile[min(r, args.attention.group - 1) * kScores + d];
    }
    q_tile[r * kQueryStride + d] = T(value);
  }
  float total[EACH];
  begin_rows<1, EACH>(stats, total, tid);
  add_partition<T, 1, EACH>((MSL_DEVICE const T*)(k_cache), (MSL_DEVICE const T*)(v_cache),
                            block_tables + long(tg.x) * args.attention.table_stride,
                            (MSL_THREADGROUP const T*)(q_tile), s_tile, v_tail, stats, total, tile, tg.z, tg.y, tid, sg,
                            lane, args.attention);
  store_rows<EACH>(total, (MSL_THREADGROUP const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid,
                   args.attention);
}

# 1 "token_attention.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_token_attention_f32)
extern "C" __global__ void __launch_bounds__(128, 2) token_attention_f32(const float* q, const float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, float* k_cache, float* v_cache, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::TokenAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  token_attention<float>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_token_attention_f16)
extern "C" __global__ void __launch_bounds__(128) token_attention_f16(const float* q, const float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, half* k_cache, half* v_cache, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::TokenAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  token_attention<half>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_token_attention_bf16)
extern "C" __global__ void __launch_bounds__(128) token_attention_bf16(const float* q, const float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, bfloat* k_cache, bfloat* v_cache, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::TokenAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  token_attention<bfloat>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
