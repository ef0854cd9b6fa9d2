// The oracles: every op as plain loops with double-precision sums, one file per op. Single threaded, for tests.
#pragma once

#include "device/op_list.h"

namespace pagoda::device::reference {

void run(const EmbeddingArgs& args) noexcept;
void run(const RmsNormArgs& args) noexcept;
void run(const MatmulArgs& args) noexcept;
void run(const QkNormRopeArgs& args) noexcept;
void run(const ReshapeAndCacheArgs& args) noexcept;
void run(const PagedAttentionArgs& args) noexcept;
void run(const SigmoidGateArgs& args) noexcept;
void run(const CausalConv1dArgs& args) noexcept;
void run(const GdnArgs& args) noexcept;
void run(const GatedRmsNormArgs& args) noexcept;
void run(const GatherRowsArgs& args) noexcept;
void run(const ZeroSlotsArgs& args) noexcept;
void run(const CopySlotArgs& args) noexcept;
void run(const RouteExpertsArgs& args) noexcept;
void run(const ExpertMatmulArgs& args) noexcept;
void run(const CombineExpertsArgs& args) noexcept;
void run(const GeluMulArgs& args) noexcept;
void run(const ScaleRowsArgs& args) noexcept;
void run(const CacheLatentsArgs& args) noexcept;
void run(const LatentAttentionArgs& args) noexcept;
void run(const KdaArgs& args) noexcept;
void run(const LayerNormArgs& args) noexcept;
void run(const GeluArgs& args) noexcept;
void run(const AdapterArgs& args) noexcept;
void run(const SiluMulArgs& args) noexcept;
void run(const SiluRowsArgs& args) noexcept;
void run(const MixStreamsArgs& args) noexcept;
void run(const InjectStreamsArgs& args) noexcept;
void run(const GateStreamsArgs& args) noexcept;
Status run(const NgramEmbeddingArgs& args) noexcept;
void run(const DilatedConvArgs& args) noexcept;
void run(const CacheIndexKeysArgs& args) noexcept;
void run(const SelectBlocksArgs& args) noexcept;
void run(const BlockAttentionArgs& args) noexcept;

}  // namespace pagoda::device::reference
