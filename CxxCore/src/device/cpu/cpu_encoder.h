// CpuEncoder: runs ops as they arrive, but defers some to fuse them with the next: consecutive row ops process each row
// in one pass, a matmul packs its rows at the end of such a pass, and a convolution runs inside the gdn that reads it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "device/cpu/adapter_kernels.h"
#include "device/cpu/cpu_ops.h"
#include "device/cpu/expert_kernels.h"
#include "device/cpu/gelu_kernels.h"
#include "device/cpu/index_kernels.h"
#include "device/cpu/kda_kernels.h"
#include "device/cpu/latent_kernels.h"
#include "device/cpu/ngram_kernels.h"
#include "device/cpu/profile.h"
#include "device/cpu/stream_kernels.h"
#include "device/cpu/vision_kernels.h"
#include "device/host/eager_encoder.h"

namespace pagoda::device::cpu {

class CpuEncoder final : public host::EagerEncoder {
 public:
  explicit CpuEncoder(const Context& context) noexcept : context_(context) {}
  void set_matmul_memory(const MatmulMemory& memory) noexcept { context_.matmul = memory; }
  Profile& profile() noexcept { return profile_; }

  void embedding(const EmbeddingArgs& args) noexcept override;
  void rms_norm(const RmsNormArgs& args) noexcept override;
  void matmul(const MatmulArgs& args) noexcept override;
  void qk_norm_rope(const QkNormRopeArgs& args) noexcept override;
  void reshape_and_cache(const ReshapeAndCacheArgs& args) noexcept override;
  void paged_attention(const PagedAttentionArgs& args) noexcept override;
  void sigmoid_gate(const SigmoidGateArgs& args) noexcept override;
  void causal_conv1d(const CausalConv1dArgs& args) noexcept override;
  void gdn(const GdnArgs& args) noexcept override;
  void gated_rms_norm(const GatedRmsNormArgs& args) noexcept override;
  void gather_rows(const GatherRowsArgs& args) noexcept override;
  void zero_slots(const ZeroSlotsArgs& args) noexcept override;
  void copy_slot(const CopySlotArgs& args) noexcept override;
  void route_experts(const RouteExpertsArgs& args) noexcept override;
  void expert_matmul(const ExpertMatmulArgs& args) noexcept override;
  void combine_experts(const CombineExpertsArgs& args) noexcept override;
  void gelu_mul(const GeluMulArgs& args) noexcept override;
  void scale_rows(const ScaleRowsArgs& args) noexcept override;
  void cache_latents(const CacheLatentsArgs& args) noexcept override;
  void latent_attention(const LatentAttentionArgs& args) noexcept override;
  void kda(const KdaArgs& args) noexcept override;
  void layer_norm(const LayerNormArgs& args) noexcept override;
  void gelu(const GeluArgs& args) noexcept override;
  void add_adapters(const AdapterArgs& args) noexcept override;
  void silu_mul(const SiluMulArgs& args) noexcept override;
  void silu_rows(const SiluRowsArgs& args) noexcept override;
  void mix_streams(const MixStreamsArgs& args) noexcept override;
  void inject_streams(const InjectStreamsArgs& args) noexcept override;
  void gate_streams(const GateStreamsArgs& args) noexcept override;
  void ngram_embedding(const NgramEmbeddingArgs& args) noexcept override;
  void dilated_conv(const DilatedConvArgs& args) noexcept override;
  void cache_index_keys(const CacheIndexKeysArgs& args) noexcept override;
  void select_blocks(const SelectBlocksArgs& args) noexcept override;
  void block_attention(const BlockAttentionArgs& args) noexcept override;

 private:
  using RowOp = std::variant<EmbeddingArgs, RmsNormArgs, MatmulArgs, QkNormRopeArgs, ReshapeAndCacheArgs,
                             SigmoidGateArgs, GatedRmsNormArgs, GatherRowsArgs, CacheLatentsArgs, LayerNormArgs,
                             GeluArgs, SiluRowsArgs, MixStreamsArgs, InjectStreamsArgs, GateStreamsArgs>;

  void run_waiting() noexcept;  // runs everything deferred
  void run_conv() noexcept;
  void add(const RowOp& op, int64_t num_rows, int64_t row_size);
  void run_rows() noexcept;  // runs the deferred row ops
  void finish() noexcept override { run_waiting(); }

  Context context_;
  std::vector<RowOp> rows_;               // keeps its capacity between steps
  int64_t num_rows_ = 0, row_cost_ = 0;   // of the deferred row ops; cost in floats
  std::optional<CausalConv1dArgs> conv_;  // deferred until the gdn that reads it
  ExpertOrder expert_order_;
  Profile profile_;
};

}  // namespace pagoda::device::cpu
