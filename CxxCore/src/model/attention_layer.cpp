// Attention: project, normalise and rotate q and k, cache k and v, attend, gate, project back.
#include <cmath>

#include "model/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::split_last;
using device::Tensor;

AttentionLayer::AttentionLayer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mixer_in)),
      out_(weights.matrix(layer_index, Role::mixer_out)),
      in_bias_(weights.vector(layer_index, Role::mixer_in_bias)),
      out_bias_(weights.vector(layer_index, Role::mixer_out_bias)),
      q_norm_(weights.vector(layer_index, Role::q_norm)),
      k_norm_(weights.vector(layer_index, Role::k_norm)),
      inv_freq_(weights.inv_freq()),
      num_heads_(config.num_heads),
      num_kv_heads_(config.num_kv_heads),
      head_dim_(config.head_dim),
      has_gate_(config.attention_gate),
      window_(config.layers[static_cast<size_t>(layer_index)] == io::LayerKind::sliding_attention
                  ? config.sliding_window
                  : 0),
      norm_eps_(config.rms_norm_eps),
      norm_offset_(config.zero_centered_norm ? 1.0f : 0.0f) {}

Status AttentionLayer::rotate(device::Encoder& encoder, const Step& step, const Tensor& heads,
                              const Tensor& norm) const {
  return ops::qk_norm_rope(encoder, {.x = heads,
                                     .weight = norm,
                                     .eps = norm_eps_,
                                     .weight_offset = norm_offset_,
                                     .positions = step.positions,
                                     .inv_freq = inv_freq_,
                                     .out = heads});
}

Status AttentionLayer::forward(device::Encoder& encoder, const Step& step) const {
  const Tensor projected = as_rows(step.projected, in_->rows());
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = in_bias_, .out = projected}));

  // Per head [q | gate], then all k, then all v.
  const int64_t q_head = has_gate_ ? 2 * head_dim_ : head_dim_, q_width = num_heads_ * q_head;
  const int64_t kv_width = num_kv_heads_ * head_dim_;
  const Tensor q_and_gate = split_last(slice(projected, 1, 0, q_width), num_heads_, q_head);
  const Tensor q = slice(q_and_gate, 2, 0, head_dim_);
  const Tensor k = split_last(slice(projected, 1, q_width, kv_width), num_kv_heads_, head_dim_);
  const Tensor v = split_last(slice(projected, 1, q_width + kv_width, kv_width), num_kv_heads_, head_dim_);
  PAGODA_RETURN_IF_ERROR(rotate(encoder, step, q, q_norm_));
  PAGODA_RETURN_IF_ERROR(rotate(encoder, step, k, k_norm_));
  PAGODA_RETURN_IF_ERROR(ops::reshape_and_cache(
      encoder, {.k = k, .v = v, .slot_mapping = step.slot_mapping, .k_cache = pool_->k, .v_cache = pool_->v}));

  const Tensor mixed = as_rows(step.mixed, num_heads_ * head_dim_);
  const Tensor mixed_heads = split_last(mixed, num_heads_, head_dim_);
  PAGODA_RETURN_IF_ERROR(ops::paged_attention(encoder, {.q = q,
                                                        .k_cache = pool_->k,
                                                        .v_cache = pool_->v,
                                                        .sequences = step.sequences,
                                                        .scale = 1.0f / std::sqrt(static_cast<float>(head_dim_)),
                                                        .window = window_,
                                                        .out = mixed_heads}));
  if (has_gate_) {
    const Tensor gate = slice(q_and_gate, 2, head_dim_, head_dim_);
    PAGODA_RETURN_IF_ERROR(ops::sigmoid_gate(encoder, {.x = mixed_heads, .gate = gate, .out = mixed_heads}));
  }
  return ops::matmul(encoder, {.x = mixed, .weight = out_, .bias = out_bias_, .out = step.delta});
}

}  // namespace pagoda::model
