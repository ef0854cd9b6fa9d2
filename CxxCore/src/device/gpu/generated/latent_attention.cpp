// latent_attention.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/latent_attention.metal"
#include "device/gpu/generated/latent_partition.h"

MSL_CONSTANT constexpr uint kLatentRows = 8;
# 10 "Shaders/latent_attention.metal"
template <typename T, typename C>

MSL_KERNEL void latent_attention(MSL_DEVICE const float* q ,
                             MSL_DEVICE const C* cache ,
                             MSL_DEVICE const int* cu_seqlens ,
                             MSL_DEVICE const int* context_lens ,
                             MSL_DEVICE const int* block_tables ,
                             MSL_DEVICE float* partials ,
                             MSL_DEVICE float* out ,
                             MSL_CONSTANT pagoda_args::LatentAttention& args ,
                             uint2 tg ,
                             uint tid ,
                             uint sg ,
                             uint lane ) {
  constexpr bool IS_INT8 = sizeof(C) == 1;
  constexpr uint LDP = kPartition * 4 / sizeof(T);
  constexpr uint TILES = IS_INT8 ? kScratch * 2 : 64;

  MSL_TG_VAR(1, q_tile, [kLatentRows*kLatentStride], T)
  MSL_TG_VAR(2, s_tile, [kLatentRows*kPartition], float)
  MSL_TG_VAR(3, tile, [kSimdgroups*64], float)

  MSL_TG_VAR(4, tiles, [kSimdgroups*TILES+(IS_INT8?kPartition*2:0)], T)
  MSL_TG_VAR(5, part_max, [kLatentRows], float)
  MSL_TG_VAR(6, part_sum, [kLatentRows], float)
  MSL_TG_VAR(7, row_max, [kLatentRows], float)
  MSL_TG_VAR(8, row_sum, [kLatentRows], float)

  const uint seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.heads, kLatentRows);
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int context = context_lens[seq];
  const int row0 = int((tg.x - first_tile(cu_seqlens, seq, args.heads, kLatentRows)) * kLatentRows);
  const int num_rows = min(int(kLatentRows), tokens * int(args.heads) - row0);
  const bool is_split = tokens == 1;
  if (num_rows <= 0 || (!is_split && tg.y > 0)) {
    return;
  }
  const int first_position = context - tokens;
  const int last_position = first_position + (row0 + num_rows - 1) / int(args.heads);
  uint part = 0;
  uint last = uint(last_position) / kPartition;
  if (is_split) {
    if (tg.y > last) {
      return;
    }
    part = tg.y;
    last = tg.y;
  }
  MSL_DEVICE const int* blocks = block_tables + long(seq) * args.table_stride;

  for (uint i = tid; MSL_LOOP(i < kLatentRows * kMaxLatentDim); i += 128) {
    const uint r = i / kMaxLatentDim;
    const uint d = i % kMaxLatentDim;
    const int flat = int(r) < num_rows ? row0 + int(r) : row0;
    float value = 0.0f;
    if (d < args.dim) {
      value = q[long(begin + flat / int(args.heads)) * args.q_stride + long(flat % int(args.heads)) * args.q_head_stride +
                d];
    }
    q_tile[r * kLatentStride + d] = T(value);
  }
  if (tid < kLatentRows) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  MSL_THREADGROUP float* scales = (MSL_THREADGROUP float*)(tiles + kSimdgroups * TILES);
  const uint step = IS_INT8 ? kValueColumns : 8;
  const uint columns = (args.value_dim + step * kSimdgroups - 1) / (step * kSimdgroups) * (step / 8);
  const uint first_column = sg * columns;
  for (uint p = part; MSL_LOOP(p <= last); ++p) {
    const int p0 = int(p * kPartition);
    const uint key_tiles = (uint(min(int(kPartition), last_position + 1 - p0)) + 7) / 8;
    const LatentKeys keys = latent_keys(blocks, p0, key_tiles, context, lane, args);
    score_latents<T>(cache, blocks, (MSL_THREADGROUP const T*)(q_tile), s_tile, tiles, keys, sg, lane, args);
    load_latent_scales(cache, blocks, scales, keys, tid, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint r = sg; MSL_LOOP(r < kLatentRows); r += kSimdgroups) {
      const int position = first_position + (int(r) < num_rows ? row0 + int(r) : row0) / int(args.heads);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_latents<T, IS_INT8>((MSL_THREADGROUP const float*)(s_tile + r * kPartition),
                                (MSL_THREADGROUP T*)(s_tile) + r * LDP, (MSL_THREADGROUP const float*)(scales), key_tiles * 8,
                                position + 1 - p0, args.scale, lane, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    SumTile acc[1][kMaxValueTiles];

    for (uint c = 0; c < kMaxValueTiles; ++c) {
      acc[0][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    sum_latents<T>(acc, cache, blocks, (MSL_THREADGROUP const T*)(s_tile), tiles + sg * TILES, keys, first_column, columns,
                   lane, args);
# 114 "Shaders/latent_attention.metal"
    for (uint c = 0; c < kMaxValueTiles; ++c) {

      if (c < columns && latent_column<IS_INT8>(first_column + c, 0) < args.value_dim) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_store(acc[0][c], tile + sg * 64, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = lane; MSL_LOOP(i < 64); i += 32) {
          const uint r = i / 8;
          const uint d = latent_column<IS_INT8>(first_column + c, i % 8);
          if (int(r) < num_rows && d < args.value_dim) {
            const long token = (row0 + int(r)) / int(args.heads);
            const long head = (row0 + int(r)) % int(args.heads);
            if (is_split) {
              partials[((long(seq) * args.heads + head) * args.max_parts + long(p)) * (args.value_dim + 2) + d] =
                  tile[sg * 64 + i];
            } else {
              MSL_DEVICE float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride + d;
              const float largest = max(row_max[r], part_max[r]);
              const float before = p == 0 ? 0.0f : *to;
              *to = merged(before, precise::exp(row_max[r] - largest), tile[sg * 64 + i],
                           precise::exp(part_max[r] - largest));
            }
          }
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < kLatentRows) {
      const float largest = max(row_max[tid], part_max[tid]);
      row_sum[tid] = merged(row_sum[tid], precise::exp(row_max[tid] - largest), part_sum[tid],
                            precise::exp(part_max[tid] - largest));
      row_max[tid] = largest;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  if (is_split) {
    if (int(tid) < num_rows) {
      MSL_DEVICE float* to =
          partials + ((long(seq) * args.heads + row0 + int(tid)) * args.max_parts + long(part)) * (args.value_dim + 2);
      to[args.value_dim] = row_max[tid];
      to[args.value_dim + 1] = row_sum[tid];
    }
    return;
  }

  for (uint c = 0; c < kMaxValueTiles; ++c) {
    if (c < columns) {
      for (uint i = lane; MSL_LOOP(i < 64); i += 32) {
        const uint r = i / 8;
        const uint d = latent_column<IS_INT8>(first_column + c, i % 8);
        if (int(r) < num_rows && d < args.value_dim) {
          const long token = (row0 + int(r)) / int(args.heads);
          const long head = (row0 + int(r)) % int(args.heads);
          MSL_DEVICE float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride + d;
          *to = *to * (1.0f / row_sum[r]);
        }
      }
    }
  }
}
# 187 "Shaders/latent_attention.metal"
MSL_KERNEL void latent_attention_reduce(MSL_DEVICE const float* partials ,
                                    MSL_DEVICE const int* cu_seqlens ,
                                    MSL_DEVICE const int* context_lens ,
                                    MSL_DEVICE float* out ,
                                    MSL_CONSTANT pagoda_args::LatentAttention& args ,
                                    uint2 tg ,
                                    uint tid ) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const uint num_parts = uint(context_lens[tg.y] - 1) / kPartition + 1;
  const long size = args.value_dim + 2;
  MSL_DEVICE const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * size;
  for (uint d = tid; MSL_LOOP(d < args.value_dim); d += 128) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = 0; MSL_LOOP(part < num_parts); ++part) {
      MSL_DEVICE const float* from = parts + long(part) * size;
      const float next = max(largest, from[args.value_dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.value_dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.value_dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] = total * (1.0f / sum);
  }
}
# 1 "latent_attention.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"partials", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::LatentAttention), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; latent_attention_reduce((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::LatentAttention*)in.buffers[4], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"cache", 1, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 2, BindingKind::buffer, sizeof(int), false}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"block_tables", 4, BindingKind::buffer, sizeof(int), false}, {"partials", 5, BindingKind::buffer, sizeof(float), true}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::LatentAttention), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; latent_attention<float, float>((const float*)in.buffers[0], (const float*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::LatentAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"cache", 1, BindingKind::buffer, sizeof(half), false}, {"cu_seqlens", 2, BindingKind::buffer, sizeof(int), false}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"block_tables", 4, BindingKind::buffer, sizeof(int), false}, {"partials", 5, BindingKind::buffer, sizeof(float), true}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::LatentAttention), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; latent_attention<half, half>((const float*)in.buffers[0], (const half*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::LatentAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"cache", 1, BindingKind::buffer, sizeof(bfloat), false}, {"cu_seqlens", 2, BindingKind::buffer, sizeof(int), false}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"block_tables", 4, BindingKind::buffer, sizeof(int), false}, {"partials", 5, BindingKind::buffer, sizeof(float), true}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::LatentAttention), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; latent_attention<bfloat, bfloat>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::LatentAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_4[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"cache", 1, BindingKind::buffer, sizeof(char), false}, {"cu_seqlens", 2, BindingKind::buffer, sizeof(int), false}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"block_tables", 4, BindingKind::buffer, sizeof(int), false}, {"partials", 5, BindingKind::buffer, sizeof(float), true}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::LatentAttention), false}};
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; latent_attention<bfloat, char>((const float*)in.buffers[0], (const char*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::LatentAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr ConstantInfo msl_constants[] = {{"use_window", 0, ConstantType::bool_, msl_set_use_window}, {"use_softcap", 1, ConstantType::bool_, msl_set_use_softcap}, {"use_sinks", 2, ConstantType::bool_, msl_set_use_sinks}, {"use_all_keys", 3, ConstantType::bool_, msl_set_use_all_keys}};
constexpr KernelInfo msl_kernels[] = {
  {"latent_attention_reduce", "latent_attention", msl_bindings_0, msl_constants, 128, msl_entry_0},
  {"latent_attention_f32", "latent_attention", msl_bindings_1, msl_constants, 128, msl_entry_1},
  {"latent_attention_f16", "latent_attention", msl_bindings_2, msl_constants, 128, msl_entry_2},
  {"latent_attention_bf16", "latent_attention", msl_bindings_3, msl_constants, 128, msl_entry_3},
  {"latent_attention_i8", "latent_attention", msl_bindings_4, msl_constants, 128, msl_entry_4},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> latent_attention_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
