// The ops of sparse attention with an indexer, checked like those in ops.h. They return unsupported on devices without
// them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/index_ops.h"

namespace pagoda::ops {

Status cache_index_keys(device::Encoder& encoder, const device::CacheIndexKeysArgs& args) noexcept;
Status select_blocks(device::Encoder& encoder, const device::SelectBlocksArgs& args) noexcept;
Status block_attention(device::Encoder& encoder, const device::BlockAttentionArgs& args) noexcept;

}  // namespace pagoda::ops
