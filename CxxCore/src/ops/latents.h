// cache_latents and latent_attention, checked like the ops in ops.h. They return unsupported on devices without them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/latent_ops.h"

namespace pagoda::ops {

Status cache_latents(device::Encoder& encoder, const device::CacheLatentsArgs& args) noexcept;
Status latent_attention(device::Encoder& encoder, const device::LatentAttentionArgs& args) noexcept;

}  // namespace pagoda::ops
