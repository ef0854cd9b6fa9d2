// The reference device: host memory; oracles run as they are encoded.
#include "device/reference/reference_device.h"

#include "device/host/eager_encoder.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"
#include "device/reference/adapter_oracles.h"
#include "device/reference/expert_oracles.h"
#include "device/reference/gelu_oracles.h"
#include "device/reference/index_oracles.h"
#include "device/reference/kda_oracle.h"
#include "device/reference/latent_oracles.h"
#include "device/reference/ngram_oracles.h"
#include "device/reference/reference_ops.h"
#include "device/reference/stream_oracles.h"
#include "device/reference/vision_oracles.h"

namespace pagoda::device::reference {
namespace {

class ReferenceEncoder final : public host::EagerEncoder {
 public:
  void embedding(const EmbeddingArgs& a) noexcept override {
    if (accept(a)) reference::embedding(a);
  }
  void rms_norm(const RmsNormArgs& a) noexcept override { reference::rms_norm(a); }
  void matmul(const MatmulArgs& a) noexcept override { reference::matmul(a); }
  void qk_norm_rope(const QkNormRopeArgs& a) noexcept override { reference::qk_norm_rope(a); }
  void reshape_and_cache(const ReshapeAndCacheArgs& a) noexcept override {
    if (accept(a)) reference::reshape_and_cache(a);
  }
  void paged_attention(const PagedAttentionArgs& a) noexcept override {
    if (accept(a)) reference::paged_attention(a);
  }
  void sigmoid_gate(const SigmoidGateArgs& a) noexcept override { reference::sigmoid_gate(a); }
  void causal_conv1d(const CausalConv1dArgs& a) noexcept override {
    if (accept(a)) reference::causal_conv1d(a);
  }
  void gdn(const GdnArgs& a) noexcept override {
    if (accept(a)) reference::gdn(a);
  }
  void gated_rms_norm(const GatedRmsNormArgs& a) noexcept override { reference::gated_rms_norm(a); }
  void gather_rows(const GatherRowsArgs& a) noexcept override {
    if (accept(a)) reference::gather_rows(a);
  }
  void zero_slots(const ZeroSlotsArgs& a) noexcept override {
    if (accept(a)) reference::zero_slots(a);
  }
  void copy_slot(const CopySlotArgs& a) noexcept override { reference::copy_slot(a); }
  void route_experts(const RouteExpertsArgs& a) noexcept override { reference::route_experts(a); }
  void expert_matmul(const ExpertMatmulArgs& a) noexcept override {
    if (accept(a)) reference::expert_matmul(a);
  }
  void combine_experts(const CombineExpertsArgs& a) noexcept override { reference::combine_experts(a); }
  void gelu_mul(const GeluMulArgs& a) noexcept override { reference::gelu_mul(a); }
  void scale_rows(const ScaleRowsArgs& a) noexcept override { reference::scale_rows(a); }
  void cache_latents(const CacheLatentsArgs& a) noexcept override {
    if (accept(a)) reference::cache_latents(a);
  }
  void latent_attention(const LatentAttentionArgs& a) noexcept override {
    if (accept(a)) reference::latent_attention(a);
  }
  void kda(const KdaArgs& a) noexcept override {
    if (accept(a)) reference::kda(a);
  }
  void layer_norm(const LayerNormArgs& a) noexcept override { reference::layer_norm(a); }
  void gelu(const GeluArgs& a) noexcept override { reference::gelu(a); }
  void add_adapters(const AdapterArgs& a) noexcept override {
    if (accept(a)) reference::add_adapters(a);
  }
  void silu_mul(const SiluMulArgs& a) noexcept override { reference::silu_mul(a); }
  void silu_rows(const SiluRowsArgs& a) noexcept override { reference::silu_rows(a); }
  void mix_streams(const MixStreamsArgs& a) noexcept override { reference::mix_streams(a); }
  void inject_streams(const InjectStreamsArgs& a) noexcept override { reference::inject_streams(a); }
  void gate_streams(const GateStreamsArgs& a) noexcept override { reference::gate_streams(a); }
  void ngram_embedding(const NgramEmbeddingArgs& a) noexcept override {
    if (accept(a)) check(reference::ngram_embedding(a));
  }
  void dilated_conv(const DilatedConvArgs& a) noexcept override {
    if (accept(a)) reference::dilated_conv(a);
  }
  void cache_index_keys(const CacheIndexKeysArgs& a) noexcept override {
    if (accept(a)) reference::cache_index_keys(a);
  }
  void select_blocks(const SelectBlocksArgs& a) noexcept override {
    if (accept(a)) reference::select_blocks(a);
  }
  void block_attention(const BlockAttentionArgs& a) noexcept override {
    if (accept(a)) reference::block_attention(a);
  }
};

class ReferenceDevice final : public Device {
 public:
  ReferenceDevice() : info_{"reference", "scalar double-precision oracles, 1 thread", host::memory_limit_bytes()} {}
  const DeviceInfo& info() const noexcept override { return info_; }
  Encoder& encoder() noexcept override { return encoder_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return host::make_buffer(size_bytes, label);
  }
  Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format) override {
    return host::make_weight(source, format);
  }
  size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept override {
    return host::weight_bytes(rows, cols, format);
  }
  bool keeps_format(WeightFormat) const noexcept override { return true; }
  bool joins_weights(bool) const noexcept override { return true; }
  Result<std::unique_ptr<Weight>> join_weights(std::vector<std::unique_ptr<Weight>> pieces) override {
    return host::join_weights(pieces);
  }
  Status reserve(const StepLimits&) override { return ok_status(); }
  size_t reserve_bytes(const StepLimits&) const noexcept override { return 0; }
  Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept override {
    return host::upload(to, from, size_bytes);
  }
  Status download(const Tensor& from, void* to, size_t size_bytes) noexcept override {
    return host::download(from, to, size_bytes);
  }

 private:
  DeviceInfo info_;
  ReferenceEncoder encoder_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_reference_device() { return std::unique_ptr<Device>(new ReferenceDevice()); }

}  // namespace pagoda::device::reference
