// The operations models are composed of: each checks its arguments and passes them to the encoder.
// A wrong argument is StatusCode::internal (only models call ops; shapes from user input are validated earlier); the
// message names the op, the argument, and the actual and expected shapes. An op that the device does not have is
// StatusCode::unsupported. No allocation on success.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/op_list.h"

namespace pagoda::ops {

Status embedding(device::Encoder& encoder, const device::EmbeddingArgs& args) noexcept;
Status rms_norm(device::Encoder& encoder, const device::RmsNormArgs& args) noexcept;
Status matmul(device::Encoder& encoder, const device::MatmulArgs& args) noexcept;
Status qk_norm_rope(device::Encoder& encoder, const device::QkNormRopeArgs& args) noexcept;
Status reshape_and_cache(device::Encoder& encoder, const device::ReshapeAndCacheArgs& args) noexcept;
Status paged_attention(device::Encoder& encoder, const device::PagedAttentionArgs& args) noexcept;
Status sigmoid_gate(device::Encoder& encoder, const device::SigmoidGateArgs& args) noexcept;
Status causal_conv1d(device::Encoder& encoder, const device::CausalConv1dArgs& args) noexcept;
Status gdn(device::Encoder& encoder, const device::GdnArgs& args) noexcept;
Status gated_rms_norm(device::Encoder& encoder, const device::GatedRmsNormArgs& args) noexcept;
Status gather_rows(device::Encoder& encoder, const device::GatherRowsArgs& args) noexcept;
Status zero_slots(device::Encoder& encoder, const device::ZeroSlotsArgs& args) noexcept;
Status copy_slot(device::Encoder& encoder, const device::CopySlotArgs& args) noexcept;
Status argmax(device::Encoder& encoder, const device::ArgmaxArgs& args) noexcept;
Status sample(device::Encoder& encoder, const device::SampleArgs& args) noexcept;
Status route_experts(device::Encoder& encoder, const device::RouteExpertsArgs& args) noexcept;
Status expert_matmul(device::Encoder& encoder, const device::ExpertMatmulArgs& args) noexcept;
Status combine_experts(device::Encoder& encoder, const device::CombineExpertsArgs& args) noexcept;
Status gelu_mul(device::Encoder& encoder, const device::GeluMulArgs& args) noexcept;
Status scale_rows(device::Encoder& encoder, const device::ScaleRowsArgs& args) noexcept;
Status cache_latents(device::Encoder& encoder, const device::CacheLatentsArgs& args) noexcept;
Status latent_attention(device::Encoder& encoder, const device::LatentAttentionArgs& args) noexcept;
Status kda(device::Encoder& encoder, const device::KdaArgs& args) noexcept;
Status layer_norm(device::Encoder& encoder, const device::LayerNormArgs& args) noexcept;
Status gelu(device::Encoder& encoder, const device::GeluArgs& args) noexcept;
Status add_adapters(device::Encoder& encoder, const device::AdapterArgs& args) noexcept;
Status silu_mul(device::Encoder& encoder, const device::SiluMulArgs& args) noexcept;
Status silu_rows(device::Encoder& encoder, const device::SiluRowsArgs& args) noexcept;
Status mix_streams(device::Encoder& encoder, const device::MixStreamsArgs& args) noexcept;
Status inject_streams(device::Encoder& encoder, const device::InjectStreamsArgs& args) noexcept;
Status gate_streams(device::Encoder& encoder, const device::GateStreamsArgs& args) noexcept;
Status ngram_embedding(device::Encoder& encoder, const device::NgramEmbeddingArgs& args) noexcept;
Status dilated_conv(device::Encoder& encoder, const device::DilatedConvArgs& args) noexcept;
Status cache_index_keys(device::Encoder& encoder, const device::CacheIndexKeysArgs& args) noexcept;
Status select_blocks(device::Encoder& encoder, const device::SelectBlocksArgs& args) noexcept;
Status block_attention(device::Encoder& encoder, const device::BlockAttentionArgs& args) noexcept;

}  // namespace pagoda::ops
