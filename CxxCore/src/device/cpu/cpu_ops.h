// The ops of the CPU device, one file each. Row ops have run_row(), which touches row t only, so that consecutive ones
// can process a row while it is in L1; the others have run(), which parallelises itself over the threads and may fail.
#pragma once

#include "device/cpu/context.h"
#include "device/op_list.h"

namespace pagoda::device::cpu {

void run_row(const Context& context, const EmbeddingArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const RmsNormArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const MatmulArgs& args, int64_t t, int thread) noexcept;  // packs the row
void run_row(const Context& context, const QkNormRopeArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const ReshapeAndCacheArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const SigmoidGateArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const GatedRmsNormArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const GatherRowsArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const CacheLatentsArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const LayerNormArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const GeluArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const SiluRowsArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const MixStreamsArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const InjectStreamsArgs& args, int64_t t, int thread) noexcept;
void run_row(const Context& context, const GateStreamsArgs& args, int64_t t, int thread) noexcept;

void run(const Context& context, const MatmulArgs& args) noexcept;  // requires run_row of all rows first
void run(const Context& context, const PagedAttentionArgs& args) noexcept;
void run(const Context& context, const CausalConv1dArgs& args) noexcept;
// `conv`: null, or the convolution that produces q, k and v; it is then computed here.
void run(const Context& context, const GdnArgs& args, const CausalConv1dArgs* conv) noexcept;
bool can_convolve_inside(const CausalConv1dArgs& conv, const GdnArgs& gdn) noexcept;
void run(const Context& context, const ZeroSlotsArgs& args) noexcept;
void run(const Context& context, const CopySlotArgs& args) noexcept;
void run(const Context& context, const RouteExpertsArgs& args) noexcept;
void run(const Context& context, const CombineExpertsArgs& args) noexcept;
void run(const Context& context, const GeluMulArgs& args) noexcept;
void run(const Context& context, const ScaleRowsArgs& args) noexcept;
void run(const Context& context, const LatentAttentionArgs& args) noexcept;
void run(const Context& context, const KdaArgs& args) noexcept;
void run(const Context& context, const AdapterArgs& args) noexcept;
void run(const Context& context, const SiluMulArgs& args) noexcept;
Status run(const Context& context, const NgramEmbeddingArgs& args) noexcept;
void run(const Context& context, const DilatedConvArgs& args) noexcept;
void run(const Context& context, const CacheIndexKeysArgs& args) noexcept;
// Fails if the scores of one row do not fit the scratch memory of all threads.
Status run(const Context& context, const SelectBlocksArgs& args) noexcept;
void run(const Context& context, const BlockAttentionArgs& args) noexcept;

template <class Args>
constexpr bool is_row_op = requires(const Context& context, const Args& args) { run_row(context, args, 0, 0); };
template <class Args>
constexpr bool is_whole_op =
    !is_row_op<Args> && requires(const Context& context, const Args& args) { run(context, args); };

}  // namespace pagoda::device::cpu
