// paged_attention.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/paged_attention.metal"
#include "device/gpu/generated/attention_partition.h"


template <typename T, uint RT>

MSL_KERNEL void paged_attention(MSL_DEVICE const float* q ,
                            MSL_DEVICE const T* k_cache ,
                            MSL_DEVICE const T* v_cache ,
                            MSL_DEVICE const int* cu_seqlens ,
                            MSL_DEVICE const int* context_lens ,
                            MSL_DEVICE const int* block_tables ,
                            MSL_DEVICE const float* sinks ,
                            MSL_DEVICE float* partials ,
                            MSL_DEVICE float* out ,
                            MSL_CONSTANT pagoda_args::PagedAttention& args ,
                            uint3 tg ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint LDQ = kMaxDim + 8;
  constexpr uint LDP = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  constexpr uint EACH = ROWS * kMaxDim / 128;

  MSL_TG_VAR(1, q_tile, [ROWS*LDQ], T)
  MSL_TG_VAR(2, s_tile, [ROWS*kScores], float)
  MSL_TG_VAR(3, v_tail, [8*kMaxDim], T)
  MSL_TG_VAR(4, part_max, [ROWS], float)
  MSL_TG_VAR(5, part_sum, [ROWS], float)
  MSL_TG_VAR(6, row_max, [ROWS], float)
  MSL_TG_VAR(7, row_sum, [ROWS], float)
  MSL_TG_VAR(8, factors, [2*ROWS], float)

  const uint seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.group, ROWS);
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int context = context_lens[seq];
  const int row0 = int((tg.x - first_tile(cu_seqlens, seq, args.group, ROWS)) * ROWS);
  const int num_rows = min(int(ROWS), tokens * int(args.group) - row0);
  const bool is_split = tokens == 1 && args.is_split != 0;
  if (num_rows <= 0 || (!is_split && tg.z > 0)) {
    return;
  }
  const int first_position = context - tokens + row0 / int(args.group);
  const int last_position = context - tokens + (row0 + num_rows - 1) / int(args.group);
  uint part = first_part(first_position, args.window);
  uint last = uint(last_position) / kPartition;
  if (is_split) {
    if (tg.z < part || tg.z > last) {
      return;
    }
    part = tg.z;
    last = tg.z;
  }
  const uint row_tiles = (uint(num_rows) + 7) / 8;
  MSL_DEVICE const int* blocks = block_tables + long(seq) * args.table_stride;
# 63 "Shaders/paged_attention.metal"
  for (uint i = 0; i < kMaxDim / 128; ++i) {
    const uint d = tid + 128 * i;
    float v[ROWS];

    for (uint r = 0; r < ROWS; ++r) {
      const int flat = row0 + min(int(r), num_rows - 1);
      const long head = long(tg.y) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }

    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * LDQ + d] = T(v[r]);
    }
  }
  if (tid < ROWS) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  float total[EACH];

  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
# 94 "Shaders/paged_attention.metal"
  const bool wide = false;

  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (; MSL_LOOP(part <= last); ++part) {
    const int p0 = int(part * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;
    const int tail_tile = context / 8 * 8;

    const bool is_tail = p0 + int(key_tiles) * 8 > context;
# 122 "Shaders/paged_attention.metal"
    for (uint kt = wide ? key_tiles : sg; MSL_LOOP(kt < key_tiles); kt += kSimdgroups) {
      const uint key = uint(p0) + kt * 8;
      score_keys<T, RT>(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride, args.k_place_stride,
                                   long(tg.y) * args.k_head_stride),
                        (MSL_THREADGROUP const T*)(q_tile), s_tile, kt, row_tiles, args);
    }
    if (is_tail && !wide) {
      load_tail(cache_rows(v_cache, blocks, uint(tail_tile), args.block_size, args.v_block_stride, args.v_place_stride,
                           long(tg.y) * args.v_head_stride),
                v_tail, context - tail_tile, tid, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    for (uint r = sg; MSL_LOOP(r < uint(num_rows)); r += kSimdgroups) {
      const int position = context - tokens + (row0 + int(r)) / int(args.group);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_scores((MSL_THREADGROUP const float*)(s_tile + r * kScores), (MSL_THREADGROUP T*)(s_tile) + r * LDP, p0,
                   key_tiles * 8, position, lane, args, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (int(tid) < num_rows) {
      const float largest = max(row_max[tid], part_max[tid]);
      const float total_factor = precise::exp(row_max[tid] - largest);
      const float part_factor = precise::exp(part_max[tid] - largest);
      row_sum[tid] = merged(row_sum[tid], total_factor, part_sum[tid], part_factor);
      row_max[tid] = largest;
      factors[tid] = total_factor;
      factors[ROWS + tid] = part_factor;
    }


    const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
    const uint first_column = sg * columns;
    simdgroup_matrix<float, 8, 8> acc[RT][COLS];

    for (uint r = 0; r < RT; ++r) {

      for (uint c = 0; c < COLS; ++c) {
        acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }
# 180 "Shaders/paged_attention.metal"
    for (uint kt = wide ? key_tiles : 0; kt < key_tiles; ++kt) {
      const uint key = uint(p0) + kt * 8;
      MSL_DEVICE const T* rows = cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride,
                                        args.v_place_stride, long(tg.y) * args.v_head_stride);
      simdgroup_matrix<T, 8, 8> weights[RT];

      for (uint r = 0; r < RT; ++r) {
        if (r < row_tiles) {
          simdgroup_load(weights[r], (MSL_THREADGROUP T*)(s_tile) + r * 8 * LDP + kt * 8, LDP);
        }
      }
      add_values<T, RT, COLS>(acc, weights, rows, (MSL_THREADGROUP const T*)(v_tail), int(key) == tail_tile, first_column,
                              columns, row_tiles, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
# 202 "Shaders/paged_attention.metal"
    store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);

    threadgroup_barrier(mem_flags::mem_threadgroup);


    for (uint i = 0; i < EACH; ++i) {
      const uint r = (tid + 128 * i) / kMaxDim;
      const uint d = (tid + 128 * i) % kMaxDim;
      if (int(r) < num_rows && d < args.dim) {
        total[i] = merged(total[i], factors[r], s_tile[r * kScores + d], factors[ROWS + r]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }


  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + 128 * i) / kMaxDim;
    const uint d = (tid + 128 * i) % kMaxDim;
    if (int(r) < num_rows && d < args.dim) {
      const long token = begin + (row0 + int(r)) / int(args.group);
      const long head = long(tg.y) * args.group + (row0 + int(r)) % int(args.group);
      if (is_split) {
        MSL_DEVICE float* to = partials + ((long(seq) * args.heads + head) * args.max_parts + long(tg.z)) * (args.dim + 2);
        to[d] = total[i];
        if (d == 0) {
          to[args.dim] = row_max[r];
          to[args.dim + 1] = row_sum[r];
        }
      } else {
        const float sink = use_sinks ? sinks[head] : 0.0f;
        out[token * args.out_stride + head * args.out_head_stride + d] =
            total[i] * scale_to_end(row_max[r], row_sum[r], sink);
      }
    }
  }
}
# 252 "Shaders/paged_attention.metal"
MSL_KERNEL void paged_attention_reduce(MSL_DEVICE const float* partials ,
                                   MSL_DEVICE const int* cu_seqlens ,
                                   MSL_DEVICE const int* context_lens ,
                                   MSL_DEVICE const float* sinks ,
                                   MSL_DEVICE float* out ,
                                   MSL_CONSTANT pagoda_args::PagedAttention& args ,
                                   uint2 tg ,
                                   uint tid ) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const int position = context_lens[tg.y] - 1;
  MSL_DEVICE const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * (args.dim + 2);
  const float sink = use_sinks ? sinks[tg.x] : 0.0f;
  for (uint d = tid; MSL_LOOP(d < args.dim); d += 128) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = first_part(position, args.window); MSL_LOOP(part <= uint(position) / kPartition); ++part) {
      MSL_DEVICE const float* from = parts + long(part) * (args.dim + 2);
      const float next = max(largest, from[args.dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] =
        total * scale_to_end(largest, sum, sink);
  }
}

# 1 "paged_attention.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  paged_attention_reduce((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::PagedAttention*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"partials", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"sinks", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  paged_attention<float, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(float), false}, {"v_cache", 2, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  paged_attention<half, 1>((const float*)in.buffers[0], (const half*)in.buffers[1], (const half*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(half), false}, {"v_cache", 2, BindingKind::buffer, sizeof(half), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
constexpr uint32_t msl_limit_2 = 128;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  paged_attention<half, 2>((const float*)in.buffers[0], (const half*)in.buffers[1], (const half*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(half), false}, {"v_cache", 2, BindingKind::buffer, sizeof(half), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
constexpr uint32_t msl_limit_3 = 128;
void msl_entry_4(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  paged_attention<bfloat, 1>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_4[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(bfloat), false}, {"v_cache", 2, BindingKind::buffer, sizeof(bfloat), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
constexpr uint32_t msl_limit_4 = 128;
void msl_entry_5(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  paged_attention<bfloat, 2>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_5[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(bfloat), false}, {"v_cache", 2, BindingKind::buffer, sizeof(bfloat), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
constexpr uint32_t msl_limit_5 = 128;
constexpr ConstantInfo msl_constants[] = {{"use_window", 0, ConstantType::bool_, msl_set_use_window}, {"use_softcap", 1, ConstantType::bool_, msl_set_use_softcap}, {"use_sinks", 2, ConstantType::bool_, msl_set_use_sinks}};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> paged_attention_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"paged_attention_reduce", "paged_attention", metal::msl_bindings_0, metal::msl_constants, metal::msl_limit_0, metal::msl_entry_0},
    {"paged_attention_f32_1", "paged_attention", metal::msl_bindings_1, metal::msl_constants, metal::msl_limit_1, metal::msl_entry_1},
    {"paged_attention_f16_1", "paged_attention", metal::msl_bindings_2, metal::msl_constants, metal::msl_limit_2, metal::msl_entry_2},
    {"paged_attention_f16_2", "paged_attention", metal::msl_bindings_3, metal::msl_constants, metal::msl_limit_3, metal::msl_entry_3},
    {"paged_attention_bf16_1", "paged_attention", metal::msl_bindings_4, metal::msl_constants, metal::msl_limit_4, metal::msl_entry_4},
    {"paged_attention_bf16_2", "paged_attention", metal::msl_bindings_5, metal::msl_constants, metal::msl_limit_5, metal::msl_entry_5},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
