// The layers: attention, Gated DeltaNet, Kimi Delta Attention, MLP, mixture of experts. Each reads step.normed and
// leaves its addition in step.delta.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/result.h"
#include "device/device.h"
#include "io/config/model_config.h"
#include "model/layers/streams.h"
#include "model/pools.h"
#include "model/weights/weights.h"
#include "model/workspace.h"

namespace pagoda::model {

// Chooses the blocks that a token attends to, from rows [T, queries | key] that the layer has projected.
class Indexer {
 public:
  Indexer(const io::ModelConfig& config, const Weights& weights, int layer_index);
  int64_t width() const noexcept { return (num_heads_ + 1) * dim_; }
  // Writes the step's index keys to the cache, and leaves the choice in step.chosen_blocks.
  Status choose(device::Encoder& encoder, const Step& step, const device::Tensor& projected,
                const device::Tensor& cache) const;
  Status attend(device::Encoder& encoder, const Step& step, const device::Tensor& q, const KvPool& pool, float scale,
                const device::Tensor& out) const;

 private:
  device::Tensor q_norm_, k_norm_, inv_freq_;
  int64_t num_heads_, dim_, ratio_;
  float norm_eps_, norm_offset_;
};

class AttentionLayer {
 public:
  AttentionLayer(const io::ModelConfig& config, const Weights& weights, int layer_index);
  void set_pool(const KvPool* pool) noexcept { pool_ = pool; }
  Status forward(device::Encoder& encoder, const Step& step) const;
  // Writes keys and values to the cache; rotates the queries too if requested.
  Status write_cache(device::Encoder& encoder, const Step& step, bool rotates_queries = false) const;
  // The rows are one token per sequence, none at position 0. Positions before `first_position` are not attended to.
  Status forward_from(device::Encoder& encoder, const Step& step, int32_t first_position) const;

 private:
  struct Parts {
    device::Tensor q, k, v, gate;  // [T, heads, D]
  };
  Parts split(const device::Tensor& projected) const noexcept;
  Status norm_all_heads(device::Encoder& encoder, const device::Tensor& heads, const device::Tensor& norm) const;
  Status finish(device::Encoder& encoder, const Step& step, const Parts& parts) const;
  Status attend(device::Encoder& encoder, const device::Tensor& q, const device::SequenceArgs& sequences,
                int32_t window, const device::Tensor& out) const;
  Status rotate(device::Encoder& encoder, const Step& step, const device::Tensor& heads,
                const device::Tensor& norm) const;
  Status rotate_run(device::Encoder& encoder, const RopeRun& run, const device::Tensor& positions,
                    const device::Tensor& heads, const device::Tensor& norm) const;

  const device::Weight* in_;   // [q (with gate) | k | v, H]
  const device::Weight* out_;  // [H, heads * D]
  device::Tensor in_bias_, out_bias_, inv_freq_;
  device::Tensor q_norm_, k_norm_;  // f32 [D], or of all heads [heads * D]; absent if there are none
  int64_t num_heads_, num_kv_heads_, head_dim_;
  bool has_gate_, norms_all_heads_;
  int32_t window_;  // 0 = all
  float scale_;     // of scores
  float norm_eps_, norm_offset_;
  const KvPool* pool_ = nullptr;
  int layer_index_;
  std::optional<Indexer> indexer_;
};

// Multi-head latent attention in absorbed form: one cached row per token, which all heads read.
class LatentAttentionLayer {
 public:
  LatentAttentionLayer(const io::ModelConfig& config, const Weights& weights, int layer_index);
  void set_pool(const KvPool* pool) noexcept { pool_ = pool; }
  Status forward(device::Encoder& encoder, const Step& step) const;

 private:
  Status norm(device::Encoder& encoder, const device::Tensor& x, const device::Tensor& weight) const;
  Status rotate(device::Encoder& encoder, const Step& step, const device::Tensor& from, const device::Tensor& to) const;
  Status cache(device::Encoder& encoder, const Step& step, const device::Tensor& row) const;
  Status absorb(device::Encoder& encoder, const Step& step, const device::Tensor& q,
                const device::Tensor& absorbed) const;

  const device::Weight* in_;   // [latent of queries, if there is one | latent | rotating key, H]
  const device::Weight* q_;    // [heads * (nope | rope), H or dims of the queries' latent]
  const device::Weight* k_;    // [heads * rank, nope]
  const device::Weight* v_;    // [heads * Dv, rank]
  const device::Weight* out_;  // [H, heads * Dv]
  device::Tensor q_norm_, kv_norm_, inv_freq_;
  int64_t num_heads_, rank_, q_rank_, nope_, rope_, v_dim_;
  float scale_;         // of scores
  float rotary_scale_;  // factor on a query's rotated part, which covers the key's factor too
  bool rotates_;
  const KvPool* pool_ = nullptr;
};

class GdnLayer {
 public:
  GdnLayer(const io::ModelConfig& config, const Weights& weights, int layer_index);
  void set_pool(const StatePool* pool) noexcept { pool_ = pool; }
  Status zero_fresh_slots(device::Encoder& encoder, const Step& step) const;
  Status forward(device::Encoder& encoder, const Step& step) const;

 private:
  // Convolution and delta rule over rows [T, ...] that `sequences` divides.
  Status mix(device::Encoder& encoder, const device::SequenceArgs& sequences, const device::Tensor& projected,
             const device::Tensor& qkv, const device::Tensor& mixed_heads) const;
  // Normalises all heads and multiplies them by the activated gate.
  Status gate(device::Encoder& encoder, const Step& step, const device::Tensor& mixed, const device::Tensor& z) const;

  const device::Weight* in_;   // [q | k | v | z | b | a, H]
  const device::Weight* out_;  // [H, Hv * Dv]
  device::Tensor conv_, a_log_, dt_bias_, norm_;
  int64_t num_k_heads_, num_v_heads_, k_dim_, v_dim_;  // dims of one head
  float norm_eps_, beta_scale_;
  bool has_sigmoid_gate_;  // instead of SiLU
  int layer_index_;
  const StatePool* pool_ = nullptr;
};

class KdaLayer {
 public:
  KdaLayer(const io::ModelConfig& config, const Weights& weights, int layer_index);
  void set_pool(const StatePool* pool) noexcept { pool_ = pool; }
  Status zero_fresh_slots(device::Encoder& encoder, const Step& step) const;
  Status forward(device::Encoder& encoder, const Step& step) const;

 private:
  // Convolution and delta rule over rows [T, ...] that `sequences` divides.
  Status mix(device::Encoder& encoder, const device::SequenceArgs& sequences, const device::Tensor& projected,
             const device::Tensor& inner, const device::Tensor& heads) const;

  const device::Weight* in_;     // [q | k | v | b | latent of decays | latent of the gate, H]
  const device::Weight* decay_;  // [heads * D, D]
  const device::Weight* gate_;   // [heads * D, D]
  const device::Weight* out_;    // [H, heads * D]
  device::Tensor conv_, a_log_, dt_bias_, norm_;
  int64_t num_heads_, dim_;
  float norm_eps_;
  const StatePool* pool_ = nullptr;
};

class Mlp {
 public:
  Mlp(const io::ModelConfig& config, const Weights& weights, int layer_index);
  Status forward(device::Encoder& encoder, const Step& step) const;

 private:
  const device::Weight* in_;   // [gate | up, H]
  const device::Weight* out_;  // [H, F]
  device::Tensor in_bias_, out_bias_;
  bool gelu_;  // instead of SiLU
  int layer_index_;
};

// A mixture of experts: every token goes through the shared expert, if there is one, and the few that the router
// selects.
class ExpertMlp {
 public:
  ExpertMlp(const io::ModelConfig& config, const Weights& weights, int layer_index);
  Status forward(device::Encoder& encoder, const Step& step) const;
  // The mixture of the layer after this one, which lives as long: its experts are guessed.
  void set_next(const ExpertMlp* next) noexcept { next_ = next; }

 private:
  Status guess_next(device::Encoder& encoder, const Step& step) const;
  device::RouteExpertsArgs routing(const device::Tensor& logits, const device::Tensor& ids,
                                   const device::Tensor& weights) const noexcept;
  Status run_experts(device::Encoder& encoder, const Step& step) const;

  Mlp shared_;
  const device::Weight* router_;  // [E experts, then the gate of a shared one; H]
  const device::Weight* in_;      // [E * (gate | up), H]
  const device::Weight* out_;     // [E * H, F]
  device::Tensor bias_;           // f32 [E] or absent: added to the scores for the choice of experts
  int64_t num_experts_, num_groups_, groups_per_token_;
  int64_t size_, padded_size_;  // F of an expert
  bool has_shared_, has_gate_, normalise_, is_sigmoid_;
  float scale_;
  int layer_index_;
  const ExpertMlp* next_ = nullptr;
};

// The embeddings of all rows: those of the ids, or of image tokens the rows of the tower.
Status embed_tokens(device::Encoder& encoder, const Step& step, const device::Weight* table, const device::Tensor& out);

using Mixer = std::variant<AttentionLayer, LatentAttentionLayer, GdnLayer, KdaLayer>;

// Whether only a matmul at the start reads step.normed.
inline bool reads_once(const Mixer& mixer) noexcept { return !std::holds_alternative<LatentAttentionLayer>(mixer); }
inline bool reads_once(const std::variant<Mlp, ExpertMlp>& mlp) noexcept { return std::holds_alternative<Mlp>(mlp); }

struct Layer {
  device::Tensor input_norm, post_norm;  // f32 [H]; absent if mixer and MLP read the residual stream itself
  device::Tensor mixer_norm, mlp_norm;   // f32 [H] or absent: norms of the outputs of mixer and MLP
  Mixer mixer;
  std::variant<Mlp, ExpertMlp> mlp;
  std::optional<StreamMixer> mixer_streams{}, mlp_streams{};  // if there are several residual streams
  std::optional<NgramLayer> ngrams{};                         // before the mixer
};

}  // namespace pagoda::model
