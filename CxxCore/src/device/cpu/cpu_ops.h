// The ops of the CPU device, one file each. Row ops touch row t only, so that consecutive ones can process a row while
// it is in L1; the other ops parallelise themselves over the threads.
#pragma once

#include "device/cpu/context.h"
#include "device/device.h"
#include "device/op_args.h"

namespace pagoda::device::cpu {

void embedding(const Context& context, const EmbeddingArgs& args, int64_t t, int thread) noexcept;
void rms_norm(const Context& context, const RmsNormArgs& args, int64_t t) noexcept;
void pack_row(const Context& context, const MatmulArgs& args, int64_t row, int thread) noexcept;
void qk_norm_rope(const Context& context, const QkNormRopeArgs& args, int64_t t) noexcept;
void reshape_and_cache(const Context& context, const ReshapeAndCacheArgs& args, int64_t t) noexcept;
void sigmoid_gate(const Context& context, const SigmoidGateArgs& args, int64_t t) noexcept;
void gated_rms_norm(const Context& context, const GatedRmsNormArgs& args, int64_t t) noexcept;
void gather_rows(const Context& context, const GatherRowsArgs& args, int64_t row) noexcept;

void matmul(const Context& context, const MatmulArgs& args) noexcept;  // requires pack_row of all rows first
void paged_attention(const Context& context, const PagedAttentionArgs& args) noexcept;
void causal_conv1d(const Context& context, const CausalConv1dArgs& args) noexcept;
// `conv`: null, or the convolution that produces q, k and v; it is then computed here.
void gdn(const Context& context, const GdnArgs& args, const CausalConv1dArgs* conv) noexcept;
bool can_convolve_inside(const CausalConv1dArgs& conv, const GdnArgs& gdn) noexcept;
void zero_slots(const Context& context, const ZeroSlotsArgs& args) noexcept;
void copy_slot(const Context& context, const CopySlotArgs& args) noexcept;

}  // namespace pagoda::device::cpu
