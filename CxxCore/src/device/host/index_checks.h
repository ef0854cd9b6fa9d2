// Range checks of the values in index tensors, for devices whose index tensors the host can read. Shapes are checked
// elsewhere. An index out of range would access foreign memory, so the op is skipped and the step fails.
#pragma once

#include "base/result.h"
#include "device/adapter_ops.h"
#include "device/expert_ops.h"
#include "device/index_ops.h"
#include "device/kda_ops.h"
#include "device/latent_ops.h"
#include "device/ngram_ops.h"
#include "device/pick_ops.h"

namespace pagoda::device::host {

Status check_indices(const EmbeddingArgs& args) noexcept;
Status check_indices(const GatherRowsArgs& args) noexcept;
Status check_indices(const ReshapeAndCacheArgs& args) noexcept;
Status check_indices(const PagedAttentionArgs& args) noexcept;
Status check_indices(const CausalConv1dArgs& args) noexcept;
Status check_indices(const GdnArgs& args) noexcept;
Status check_indices(const KdaArgs& args) noexcept;
Status check_indices(const ExpertMatmulArgs& args) noexcept;
Status check_indices(const ZeroSlotsArgs& args) noexcept;
Status check_indices(const CacheLatentsArgs& args) noexcept;
Status check_indices(const LatentAttentionArgs& args) noexcept;
Status check_indices(const AdapterArgs& args) noexcept;
Status check_indices(const SampleArgs& args) noexcept;
Status check_indices(const NgramEmbeddingArgs& args) noexcept;
Status check_indices(const DilatedConvArgs& args) noexcept;
Status check_indices(const CacheIndexKeysArgs& args) noexcept;
Status check_indices(const SelectBlocksArgs& args) noexcept;
Status check_indices(const BlockAttentionArgs& args) noexcept;

}  // namespace pagoda::device::host
