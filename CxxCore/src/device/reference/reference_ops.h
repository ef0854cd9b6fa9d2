// The oracles: every op as plain loops with double-precision sums, one file per op. Single threaded, for tests.
#pragma once

#include "device/op_args.h"

namespace pagoda::device::reference {

void embedding(const EmbeddingArgs& args) noexcept;
void rms_norm(const RmsNormArgs& args) noexcept;
void matmul(const MatmulArgs& args) noexcept;
void qk_norm_rope(const QkNormRopeArgs& args) noexcept;
void reshape_and_cache(const ReshapeAndCacheArgs& args) noexcept;
void paged_attention(const PagedAttentionArgs& args) noexcept;
void sigmoid_gate(const SigmoidGateArgs& args) noexcept;
void causal_conv1d(const CausalConv1dArgs& args) noexcept;
void gdn(const GdnArgs& args) noexcept;
void gated_rms_norm(const GatedRmsNormArgs& args) noexcept;
void gather_rows(const GatherRowsArgs& args) noexcept;
void zero_slots(const ZeroSlotsArgs& args) noexcept;
void copy_slot(const CopySlotArgs& args) noexcept;

}  // namespace pagoda::device::reference
