// The sizes that GPU kernels support; the `unsupported` error names the one that is missing.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace pagoda::device::gpu {

Status check_attention(int64_t head_dim, int64_t block_size) noexcept;
Status check_gdn(int64_t k_dim) noexcept;
Status check_latents(int64_t dim, int64_t value_dim, int64_t block_size) noexcept;

}  // namespace pagoda::device::gpu
