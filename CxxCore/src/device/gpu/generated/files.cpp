// All files of kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> adapters_kernels() noexcept; KernelSource adapters_source() noexcept;
std::span<const KernelInfo> argmax_kernels() noexcept; KernelSource argmax_source() noexcept;
std::span<const KernelInfo> cache_latents_kernels() noexcept; KernelSource cache_latents_source() noexcept;
std::span<const KernelInfo> causal_conv1d_kernels() noexcept; KernelSource causal_conv1d_source() noexcept;
std::span<const KernelInfo> combine_experts_kernels() noexcept; KernelSource combine_experts_source() noexcept;
std::span<const KernelInfo> embedding_kernels() noexcept; KernelSource embedding_source() noexcept;
std::span<const KernelInfo> expert_few_kernels() noexcept; KernelSource expert_few_source() noexcept;
std::span<const KernelInfo> expert_many_kernels() noexcept; KernelSource expert_many_source() noexcept;
std::span<const KernelInfo> expert_matmul_kernels() noexcept; KernelSource expert_matmul_source() noexcept;
std::span<const KernelInfo> expert_scalar_kernels() noexcept; KernelSource expert_scalar_source() noexcept;
std::span<const KernelInfo> expert_tiles_kernels() noexcept; KernelSource expert_tiles_source() noexcept;
std::span<const KernelInfo> full_attention_kernels() noexcept; KernelSource full_attention_source() noexcept;
std::span<const KernelInfo> gated_rms_norm_kernels() noexcept; KernelSource gated_rms_norm_source() noexcept;
std::span<const KernelInfo> gather_rows_kernels() noexcept; KernelSource gather_rows_source() noexcept;
std::span<const KernelInfo> gdn_decode_kernels() noexcept; KernelSource gdn_decode_source() noexcept;
std::span<const KernelInfo> gdn_prefill_kernels() noexcept; KernelSource gdn_prefill_source() noexcept;
std::span<const KernelInfo> gdn_prepare_kernels() noexcept; KernelSource gdn_prepare_source() noexcept;
std::span<const KernelInfo> gelu_kernels() noexcept; KernelSource gelu_source() noexcept;
std::span<const KernelInfo> kda_kernels() noexcept; KernelSource kda_source() noexcept;
std::span<const KernelInfo> latent_attention_kernels() noexcept; KernelSource latent_attention_source() noexcept;
std::span<const KernelInfo> layer_norm_kernels() noexcept; KernelSource layer_norm_source() noexcept;
std::span<const KernelInfo> matmul_f32_kernels() noexcept; KernelSource matmul_f32_source() noexcept;
std::span<const KernelInfo> matmul_few_kernels() noexcept; KernelSource matmul_few_source() noexcept;
std::span<const KernelInfo> matmul_rows_kernels() noexcept; KernelSource matmul_rows_source() noexcept;
std::span<const KernelInfo> matmul_scalar_kernels() noexcept; KernelSource matmul_scalar_source() noexcept;
std::span<const KernelInfo> matmul_tensor_kernels() noexcept; KernelSource matmul_tensor_source() noexcept;
std::span<const KernelInfo> matmul_tiles_kernels() noexcept; KernelSource matmul_tiles_source() noexcept;
std::span<const KernelInfo> matmul_wide_kernels() noexcept; KernelSource matmul_wide_source() noexcept;
std::span<const KernelInfo> paged_attention_kernels() noexcept; KernelSource paged_attention_source() noexcept;
std::span<const KernelInfo> qk_norm_rope_kernels() noexcept; KernelSource qk_norm_rope_source() noexcept;
std::span<const KernelInfo> reshape_and_cache_kernels() noexcept; KernelSource reshape_and_cache_source() noexcept;
std::span<const KernelInfo> rms_norm_kernels() noexcept; KernelSource rms_norm_source() noexcept;
std::span<const KernelInfo> rope_and_cache_kernels() noexcept; KernelSource rope_and_cache_source() noexcept;
std::span<const KernelInfo> route_experts_kernels() noexcept; KernelSource route_experts_source() noexcept;
std::span<const KernelInfo> sample_kernels() noexcept; KernelSource sample_source() noexcept;
std::span<const KernelInfo> sample_nucleus_kernels() noexcept; KernelSource sample_nucleus_source() noexcept;
std::span<const KernelInfo> sample_scores_kernels() noexcept; KernelSource sample_scores_source() noexcept;
std::span<const KernelInfo> sample_whole_kernels() noexcept; KernelSource sample_whole_source() noexcept;
std::span<const KernelInfo> sigmoid_gate_kernels() noexcept; KernelSource sigmoid_gate_source() noexcept;
std::span<const KernelInfo> slots_kernels() noexcept; KernelSource slots_source() noexcept;
std::span<const KernelInfo> token_attention_kernels() noexcept; KernelSource token_attention_source() noexcept;
std::span<const KernelFile> files() noexcept {
  static const KernelFile kFiles[] = {
    {adapters_kernels(), adapters_source()},
    {argmax_kernels(), argmax_source()},
    {cache_latents_kernels(), cache_latents_source()},
    {causal_conv1d_kernels(), causal_conv1d_source()},
    {combine_experts_kernels(), combine_experts_source()},
    {embedding_kernels(), embedding_source()},
    {expert_few_kernels(), expert_few_source()},
    {expert_many_kernels(), expert_many_source()},
    {expert_matmul_kernels(), expert_matmul_source()},
    {expert_scalar_kernels(), expert_scalar_source()},
    {expert_tiles_kernels(), expert_tiles_source()},
    {full_attention_kernels(), full_attention_source()},
    {gated_rms_norm_kernels(), gated_rms_norm_source()},
    {gather_rows_kernels(), gather_rows_source()},
    {gdn_decode_kernels(), gdn_decode_source()},
    {gdn_prefill_kernels(), gdn_prefill_source()},
    {gdn_prepare_kernels(), gdn_prepare_source()},
    {gelu_kernels(), gelu_source()},
    {kda_kernels(), kda_source()},
    {latent_attention_kernels(), latent_attention_source()},
    {layer_norm_kernels(), layer_norm_source()},
    {matmul_f32_kernels(), matmul_f32_source()},
    {matmul_few_kernels(), matmul_few_source()},
    {matmul_rows_kernels(), matmul_rows_source()},
    {matmul_scalar_kernels(), matmul_scalar_source()},
    {matmul_tensor_kernels(), matmul_tensor_source()},
    {matmul_tiles_kernels(), matmul_tiles_source()},
    {matmul_wide_kernels(), matmul_wide_source()},
    {paged_attention_kernels(), paged_attention_source()},
    {qk_norm_rope_kernels(), qk_norm_rope_source()},
    {reshape_and_cache_kernels(), reshape_and_cache_source()},
    {rms_norm_kernels(), rms_norm_source()},
    {rope_and_cache_kernels(), rope_and_cache_source()},
    {route_experts_kernels(), route_experts_source()},
    {sample_kernels(), sample_source()},
    {sample_nucleus_kernels(), sample_nucleus_source()},
    {sample_scores_kernels(), sample_scores_source()},
    {sample_whole_kernels(), sample_whole_source()},
    {sigmoid_gate_kernels(), sigmoid_gate_source()},
    {slots_kernels(), slots_source()},
    {token_attention_kernels(), token_attention_source()},
  };
  return kFiles;
}
}  // namespace pagoda::device::gpu::generated
