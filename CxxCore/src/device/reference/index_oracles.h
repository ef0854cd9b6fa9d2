// The oracles of sparse attention with an indexer.
#pragma once

#include "device/index_ops.h"

namespace pagoda::device::reference {

void cache_index_keys(const CacheIndexKeysArgs&) noexcept;
void select_blocks(const SelectBlocksArgs&) noexcept;
void block_attention(const BlockAttentionArgs&) noexcept;

}  // namespace pagoda::device::reference
