// Checks of the numbers inside index tensors, which only a device that can see them can make; shapes are right already.
// A bad index would read or write memory that belongs to others, so the op is skipped and the step fails.
#pragma once

#include "base/result.h"
#include "device/expert_ops.h"

namespace pagoda::device::host {

Status check_indices(const EmbeddingArgs& args) noexcept;
Status check_indices(const GatherRowsArgs& args) noexcept;
Status check_indices(const ReshapeAndCacheArgs& args) noexcept;
Status check_indices(const PagedAttentionArgs& args) noexcept;
Status check_indices(const CausalConv1dArgs& args) noexcept;
Status check_indices(const GdnArgs& args) noexcept;
Status check_indices(const ExpertMatmulArgs& args) noexcept;
Status check_indices(const ZeroSlotsArgs& args) noexcept;

}  // namespace pagoda::device::host
