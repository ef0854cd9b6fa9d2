// The oracles of cache_latents and latent_attention.
#pragma once

#include "device/latent_ops.h"

namespace pagoda::device::reference {

void cache_latents(const CacheLatentsArgs& args) noexcept;
void latent_attention(const LatentAttentionArgs& args) noexcept;

}  // namespace pagoda::device::reference
