// OpCost: the minimum bytes and operations of an op, from its arguments; profiles, counters and benchmarks divide by
// it.
#pragma once

#include "device/adapter_ops.h"
#include "device/device.h"
#include "device/expert_ops.h"
#include "device/gelu_ops.h"
#include "device/index_ops.h"
#include "device/kda_ops.h"
#include "device/latent_ops.h"
#include "device/ngram_ops.h"
#include "device/pick_ops.h"
#include "device/stream_ops.h"
#include "device/vision_ops.h"

namespace pagoda::device {

struct OpCost {
  double bytes = 0;       // each tensor and weight once; of caches and pools, the part of the step's sequences
  double operations = 0;  // multiplications and additions, of ops that can be bound by them
};

double tensor_bytes(const Tensor& t) noexcept;                                   // 0 if absent
double slots_bytes(const Tensor& pool, const SequenceArgs& sequences) noexcept;  // of one slot for each sequence

OpCost op_cost(const EmbeddingArgs& a) noexcept;
OpCost op_cost(const RmsNormArgs& a) noexcept;
OpCost op_cost(const MatmulArgs& a) noexcept;
OpCost op_cost(const QkNormRopeArgs& a) noexcept;
OpCost op_cost(const ReshapeAndCacheArgs& a) noexcept;
OpCost op_cost(const PagedAttentionArgs& a) noexcept;  // an upper bound if the lengths are not visible to the host
OpCost op_cost(const SigmoidGateArgs& a) noexcept;
OpCost op_cost(const CausalConv1dArgs& a) noexcept;
OpCost op_cost(const GdnArgs& a) noexcept;
OpCost op_cost(const GatedRmsNormArgs& a) noexcept;
OpCost op_cost(const GatherRowsArgs& a) noexcept;
OpCost op_cost(const ZeroSlotsArgs& a) noexcept;
OpCost op_cost(const CopySlotArgs& a) noexcept;
OpCost op_cost(const ArgmaxArgs& a) noexcept;
OpCost op_cost(const SampleArgs& a) noexcept;
OpCost op_cost(const RouteExpertsArgs& a) noexcept;
OpCost op_cost(const ExpertMatmulArgs& a, int64_t num_used) noexcept;  // num_used: experts that have rows
OpCost op_cost(const CombineExpertsArgs& a) noexcept;
OpCost op_cost(const GeluMulArgs& a) noexcept;
OpCost op_cost(const ScaleRowsArgs& a) noexcept;
OpCost op_cost(const CacheLatentsArgs& a) noexcept;
OpCost op_cost(const LatentAttentionArgs& a) noexcept;  // as PagedAttentionArgs
OpCost op_cost(const KdaArgs& a) noexcept;
OpCost op_cost(const AdapterArgs& a) noexcept;  // an upper bound: every row has an adapter of its own
OpCost op_cost(const SiluMulArgs& a) noexcept;
OpCost op_cost(const LayerNormArgs& a) noexcept;
OpCost op_cost(const GeluArgs& a) noexcept;
OpCost op_cost(const SiluRowsArgs& a) noexcept;
OpCost op_cost(const MixStreamsArgs& a) noexcept;
OpCost op_cost(const InjectStreamsArgs& a) noexcept;
OpCost op_cost(const GateStreamsArgs& a) noexcept;
OpCost op_cost(const NgramEmbeddingArgs& a) noexcept;
OpCost op_cost(const DilatedConvArgs& a) noexcept;
OpCost op_cost(const CacheIndexKeysArgs& a) noexcept;  // without the earlier keys of blocks
OpCost op_cost(const SelectBlocksArgs& a) noexcept;    // as PagedAttentionArgs
OpCost op_cost(const BlockAttentionArgs& a) noexcept;  // as PagedAttentionArgs, and of all K blocks for every row

}  // namespace pagoda::device
