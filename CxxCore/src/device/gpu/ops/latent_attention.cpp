// latent_attention: one threadgroup per 8 rows of a sequence; single tokens are processed by partition, then merged.
#include "args/latent_attention.h"
#include "base/concat.h"
#include "device/gpu/gpu_encoder.h"
#include "device/gpu/kernel_sizes.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kDimStep = 8, kBlockStep = 8, kRows = 8;

pagoda_args::LatentAttention args_of(const LatentAttentionArgs& a, int64_t max_parts) noexcept {
  pagoda_args::LatentAttention args{};
  args.q_stride = a.q.strides[0];
  args.q_head_stride = a.q.strides[1];
  args.out_stride = a.out.strides[0];
  args.out_head_stride = a.out.strides[1];
  args.block_stride = a.cache.strides[0];
  args.slot_stride = a.cache.strides[1];
  args.table_stride = a.sequences.block_tables.strides[0];
  args.num_sequences = as_uint(a.sequences.context_lens.shape[0]);
  args.heads = as_uint(a.q.shape[1]);
  args.dim = as_uint(a.q.shape[2]);
  args.value_dim = as_uint(a.out.shape[2]);
  args.block_size = as_uint(a.cache.shape[1]);
  args.max_parts = as_uint(max_parts);
  args.scale = a.scale;
  return args;
}

}  // namespace

Status check_latents(int64_t dim, int64_t value_dim, int64_t block_size) noexcept {
  if (dim > kMaxLatentDim || value_dim > kMaxHeadDim || dim % kDimStep != 0 || value_dim % kDimStep != 0)
    return make_error(StatusCode::unsupported,
                      concat("GPU kernels have latents of up to 512 dims and rows of up to 576, in steps of 8; not ",
                             value_dim, " and ", dim));
  if (block_size % kBlockStep != 0)
    return make_error(StatusCode::unsupported,
                      concat("GPU kernels have KV blocks of 8, 16, 24, ... tokens; not ", block_size));
  return ok_status();
}

void GpuEncoder::record(const LatentAttentionArgs& a) noexcept {
  if (!check(check_latents(a.q.shape[2], a.out.shape[2], a.cache.shape[1])) || !check(check_rows(a.cache)) ||
      !accept(a, a.sequences.cu_seqlens))
    return;
  const SequenceArgs& s = a.sequences;
  const int64_t tokens = a.q.shape[0], num_sequences = s.context_lens.shape[0], heads = a.q.shape[1];
  const int64_t max_parts = ceil_divide(s.block_tables.shape[1] * a.cache.shape[1], kPartition);
  if (!check_scratch(ScratchSizes::attention(num_sequences, heads, a.out.shape[2], max_parts), "latent_attention"))
    return;
  const pagoda_args::LatentAttention args = args_of(a, max_parts);
  namespace attention = kernels::latent_attention;
  const KernelId& kernel = of_cache(a.cache.dtype, attention::f32, attention::f16, attention::bf16, attention::i8);
  const std::initializer_list<Constant> constants = {
      {"use_window", false}, {"use_softcap", false}, {"use_sinks", false}, {"use_all_keys", false}};
  const bool has_prompts_only = num_sequences == 1 && tokens > 1;
  launch(kernel,
         {{as_uint(tokens * heads / kRows + num_sequences), has_prompts_only ? 1 : as_uint(num_parts(s, max_parts))}},
         {a.q, a.cache, s.cu_seqlens, s.context_lens, s.block_tables, scratch_.partials, a.out}, args, constants);
  if (!has_prompts_only)
    launch(kernels::latent_attention_reduce::kernel, {{args.heads, args.num_sequences}},
           {scratch_.partials, s.cu_seqlens, s.context_lens, a.out}, args, constants);
}

}  // namespace pagoda::device::gpu
