// Sparse attention with an indexer on the CPU device.
#pragma once

#include "device/cpu/context.h"
#include "device/index_ops.h"

namespace pagoda::device::cpu {

void cache_index_keys(const Context& context, const CacheIndexKeysArgs& args) noexcept;
// Fails if the scores of one row do not fit the scratch memory of all threads.
Status select_blocks(const Context& context, const SelectBlocksArgs& args) noexcept;
void block_attention(const Context& context, const BlockAttentionArgs& args) noexcept;

}  // namespace pagoda::device::cpu
