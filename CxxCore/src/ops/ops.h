// The operations models are composed of: each checks its arguments and passes them to the encoder.
// A wrong argument is StatusCode::internal (only models call ops; shapes from user input are validated earlier); the
// message names the op, the argument, and the actual and expected shapes. No allocation on success.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/op_args.h"

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

}  // namespace pagoda::ops
