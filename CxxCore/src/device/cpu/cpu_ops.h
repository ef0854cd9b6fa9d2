// The ops of the CPU device: each splits its work into tasks and runs kernels on them. One file per op.
#pragma once

#include "device/cpu/context.h"
#include "device/op_args.h"

namespace pagoda::device::cpu {

void embedding(const Context& context, const EmbeddingArgs& args) noexcept;
void rms_norm(const Context& context, const RmsNormArgs& args) noexcept;
void matmul(const Context& context, const MatmulArgs& args) noexcept;
void qk_norm_rope(const Context& context, const QkNormRopeArgs& args) noexcept;
void reshape_and_cache(const Context& context, const ReshapeAndCacheArgs& args) noexcept;
void paged_attention(const Context& context, const PagedAttentionArgs& args) noexcept;
void sigmoid_gate(const Context& context, const SigmoidGateArgs& args) noexcept;
void silu_mul(const Context& context, const SiluMulArgs& args) noexcept;
void causal_conv1d(const Context& context, const CausalConv1dArgs& args) noexcept;
void gdn(const Context& context, const GdnArgs& args) noexcept;
void gated_rms_norm(const Context& context, const GatedRmsNormArgs& args) noexcept;
void gather_rows(const Context& context, const GatherRowsArgs& args) noexcept;
void zero_slots(const Context& context, const ZeroSlotsArgs& args) noexcept;

}  // namespace pagoda::device::cpu
