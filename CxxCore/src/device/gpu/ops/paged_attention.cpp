// paged_attention: one threadgroup per tile of rows that share a KV head; single tokens are processed by partition,
// then merged, and fused with the rotations and the caching before them.
#include "args/paged_attention.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "args/token_attention.h"
#include "base/concat.h"
#include "device/gpu/gpu_encoder.h"
#include "device/gpu/kernel_sizes.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kMaxDim = 256, kDimStep = 8, kBlockStep = 8;
constexpr int64_t kTokenHeads = 8;  // heads that share a KV head, all in one threadgroup of token_attention

pagoda_args::PagedAttention args_of(const PagedAttentionArgs& a, int64_t max_parts) noexcept {
  pagoda_args::PagedAttention args{};
  args.q_stride = a.q.strides[0];
  args.q_head_stride = a.q.strides[1];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.k_block_stride = a.k_cache.strides[0];
  args.k_slot_stride = a.k_cache.strides[1];
  args.k_head_stride = a.k_cache.strides[2];
  args.v_block_stride = a.v_cache.strides[0];
  args.v_slot_stride = a.v_cache.strides[1];
  args.v_head_stride = a.v_cache.strides[2];
  args.table_stride = a.sequences.block_tables.strides[0];
  args.num_sequences = as_uint(a.sequences.context_lens.shape[0]);
  args.heads = as_uint(a.q.shape[1]);
  args.group = as_uint(a.q.shape[1] / a.k_cache.shape[2]);
  args.dim = as_uint(a.q.shape[2]);
  args.block_size = as_uint(a.k_cache.shape[1]);
  args.max_parts = as_uint(max_parts);
  args.window = as_uint(a.window);
  args.scale = a.scale;
  args.softcap = a.softcap;
  return args;
}

const KernelId& attention_kernel(DType cache, int64_t row_tiles) noexcept {
  namespace attention = kernels::paged_attention;
  if (cache == DType::f32) return attention::f32_1;
  if (cache == DType::f16) return row_tiles == 1 ? attention::f16_1 : attention::f16_2;
  if (cache == DType::i8) return row_tiles == 1 ? attention::i8_1 : attention::i8_2;
  return row_tiles == 1 ? attention::bf16_1 : attention::bf16_2;
}

const KernelId& token_kernel(DType cache) noexcept {
  namespace token = kernels::token_attention;
  return of_cache(cache, token::f32, token::f16, token::bf16, token::i8);
}

}  // namespace

int64_t num_parts(const SequenceArgs& s, int64_t max_parts) noexcept {
  if (s.max_context == 0) return max_parts;
  const auto needed = static_cast<uint64_t>(ceil_divide(s.max_context, kPartition));
  return std::min(max_parts, static_cast<int64_t>(std::bit_ceil(needed)));
}

int64_t GpuEncoder::context_class(int64_t max_context) const noexcept {
  SequenceArgs sequences;
  sequences.max_context = max_context;
  return num_parts(sequences, std::numeric_limits<int64_t>::max());
}

Status check_attention(int64_t head_dim, int64_t block_size) noexcept {
  if (head_dim > kMaxDim || head_dim % kDimStep != 0)
    return make_error(StatusCode::unsupported,
                      concat("GPU kernels have attention heads of up to 256 dims, in steps of 8; not ", head_dim));
  if (block_size % kBlockStep != 0)
    return make_error(StatusCode::unsupported,
                      concat("GPU kernels have KV blocks of 8, 16, 24, ... tokens; not ", block_size));
  return ok_status();
}

// Whether the waiting rotations and caching belong to these queries and caches, with one token per sequence, and `out`
// does not overlap the keys and values that other threadgroups still read.
bool GpuEncoder::rotates_and_caches_for(const PagedAttentionArgs& a) const noexcept {
  return caching_ && is_same_view(waiting_[0].out, a.q) && is_same_view(caching_->k_cache, a.k_cache) &&
         is_same_view(caching_->v_cache, a.v_cache) && a.q.shape[0] == a.sequences.context_lens.shape[0] &&
         a.q.shape[1] / a.k_cache.shape[2] <= kTokenHeads && !may_overlap(a.out, waiting_[1].x) &&
         !may_overlap(a.out, caching_->v);
}

void GpuEncoder::token_attention(const PagedAttentionArgs& a, const pagoda_args::PagedAttention& attention,
                                 int64_t parts, std::initializer_list<Constant> constants) noexcept {
  num_waiting_ = 0;
  const ReshapeAndCacheArgs caching = *std::exchange(caching_, std::nullopt);
  const QkNormRopeArgs &q = waiting_[0], &k = waiting_[1];
  const pagoda_args::TokenAttention args{attention, rope_args(caching)};
  launch(token_kernel(a.k_cache.dtype),
         {{attention.num_sequences, as_uint(a.k_cache.shape[2]), attention.is_split ? as_uint(parts) : 1}},
         {q.x, k.x, caching.v, or_else(q.weight, q.inv_freq), or_else(k.weight, q.inv_freq), q.positions, q.inv_freq,
          caching.slot_mapping, a.k_cache, a.v_cache, a.sequences.context_lens, a.sequences.block_tables,
          or_else(a.sinks, a.q), scratch_.partials, a.out},
         args, constants);
}

void GpuEncoder::record(const PagedAttentionArgs& a) noexcept {
  if (!check(check_attention(a.q.shape[2], a.k_cache.shape[1])) || !check(check_rows(a.k_cache)) ||
      !check(check_rows(a.v_cache)) || !accept(a, a.sequences.cu_seqlens))
    return;
  const SequenceArgs& s = a.sequences;
  const int64_t tokens = a.q.shape[0], num_sequences = s.context_lens.shape[0];
  const int64_t max_parts = ceil_divide(s.block_tables.shape[1] * a.k_cache.shape[1], kPartition);
  if (!check_scratch(ScratchSizes::attention(num_sequences, a.q.shape[1], a.q.shape[2], max_parts), "paged_attention"))
    return;
  pagoda_args::PagedAttention args = args_of(a, max_parts);
  if (!a.is_causal && full_attention(a, args)) return;
  const int64_t parts = num_parts(s, max_parts);
  const bool is_split = parts > 1 && (num_sequences > 1 || tokens == 1);
  args.is_split = is_split;
  // Two tiles of rows if there are prompts and they fit in 32 KiB of threadgroup memory.
  const int64_t row_tiles = tokens > num_sequences && a.k_cache.dtype != DType::f32 ? 2 : 1;
  const std::initializer_list<Constant> constants = {{"use_window", a.window > 0},
                                                     {"use_softcap", a.softcap > 0},
                                                     {"use_sinks", a.sinks.is_present()},
                                                     {"use_all_keys", !a.is_causal}};
  const Slot sinks = or_else(a.sinks, a.q);
  const int64_t tiles = tokens * args.group / (8 * row_tiles) + num_sequences;
  if (rotates_and_caches_for(a)) token_attention(a, args, parts, constants);
  else
    launch(attention_kernel(a.k_cache.dtype, row_tiles),
           {{as_uint(tiles), as_uint(a.k_cache.shape[2]), is_split ? as_uint(parts) : 1}},
           {a.q, a.k_cache, a.v_cache, s.cu_seqlens, s.context_lens, s.block_tables, sinks, scratch_.partials, a.out},
           args, constants);
  if (is_split)
    launch(kernels::paged_attention_reduce::kernel, {{args.heads, args.num_sequences}},
           {scratch_.partials, s.cu_seqlens, s.context_lens, sinks, a.out}, args, constants);
}

}  // namespace pagoda::device::gpu
