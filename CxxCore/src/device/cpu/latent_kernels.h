// cache_latents and latent_attention of the CPU device.
#pragma once

#include "device/cpu/context.h"
#include "device/latent_ops.h"

namespace pagoda::device::cpu {

void cache_latents(const Context& context, const CacheLatentsArgs& args, int64_t t) noexcept;
void latent_attention(const Context& context, const LatentAttentionArgs& args) noexcept;

}  // namespace pagoda::device::cpu
