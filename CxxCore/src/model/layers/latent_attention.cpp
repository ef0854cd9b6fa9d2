// Latent attention: project to latents, cache one row per token, absorb the keys' projection into the queries, attend,
// and project the sums of latents to values. The same form for prefill and decode, so that both give the same bits.
#include "model/layers/layers.h"
#include "model/layers/rope.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::split_last;
using device::Tensor;

namespace {

constexpr float kLatentNormEps = 1e-6f;  // the same in every family, regardless of rms_norm_eps

// Rows without gaps, so that the heads have a uniform stride.
Tensor as_dense_rows(const Tensor& scratch, int64_t width) noexcept {
  return device::dense(scratch.buffer, scratch.dtype, {scratch.shape[0], width}, scratch.offset_bytes);
}

// Dense [T, heads, D] as [T * heads, count], elements from `first` of every head.
Tensor by_head(const Tensor& x, int64_t first, int64_t count) noexcept {
  Tensor rows = device::dense(x.buffer, x.dtype, {x.shape[0] * x.shape[1], x.shape[2]}, x.offset_bytes);
  return slice(rows, 1, first, count);
}

}  // namespace

LatentAttentionLayer::LatentAttentionLayer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mixer_in)),
      q_(weights.matrix(layer_index, Role::latent_q)),
      k_(weights.matrix(layer_index, Role::latent_k)),
      v_(weights.matrix(layer_index, Role::latent_v)),
      out_(weights.matrix(layer_index, Role::mixer_out)),
      q_norm_(weights.vector(layer_index, Role::q_norm)),
      kv_norm_(weights.vector(layer_index, Role::k_norm)),
      inv_freq_(weights.inv_freq(false)),
      num_heads_(config.num_heads),
      rank_(config.kv_lora_rank),
      q_rank_(config.q_lora_rank),
      nope_(config.nope_head_dim),
      rope_(config.head_dim),
      v_dim_(config.v_head_dim),
      scale_(config.attention_scale * static_cast<float>(latent_score_factor(config.rope))),
      rotary_scale_(static_cast<float>(config.rope.attention_factor * config.rope.attention_factor)),
      rotates_(!config.rope.is_off) {}

Status LatentAttentionLayer::norm(device::Encoder& encoder, const Tensor& x, const Tensor& weight) const {
  return ops::rms_norm(encoder, {.x = x, .residual = {}, .weight = weight, .eps = kLatentNormEps, .out = x});
}

// `from` and `to` are [T, heads, rope].
Status LatentAttentionLayer::rotate(device::Encoder& encoder, const Step& step, const Tensor& from,
                                    const Tensor& to) const {
  for (const RopeRun& run : step.rope_runs) {
    Tensor speeds = slice(inv_freq_, 0, run.table_row, 1);
    speeds = device::dense(speeds.buffer, speeds.dtype, {inv_freq_.shape[1]}, speeds.offset_bytes);
    PAGODA_RETURN_IF_ERROR(
        ops::qk_norm_rope(encoder, {.x = slice(from, 0, run.first_row, run.num_rows),
                                    .weight = {},
                                    .positions = slice(step.positions, 0, run.first_row, run.num_rows),
                                    .inv_freq = speeds,
                                    .out = slice(to, 0, run.first_row, run.num_rows)}));
  }
  return ok_status();
}

// `row` is [T, rank + rope].
Status LatentAttentionLayer::cache(device::Encoder& encoder, const Step& step, const Tensor& row) const {
  PAGODA_RETURN_IF_ERROR(norm(encoder, slice(row, 1, 0, rank_), kv_norm_));
  const Tensor key = split_last(slice(row, 1, rank_, rope_), 1, rope_);
  if (rotates_) PAGODA_RETURN_IF_ERROR(rotate(encoder, step, key, key));
  return ops::cache_latents(encoder, {.x = row, .slot_mapping = step.slot_mapping, .cache = pool_->latents});
}

// Queries [T, heads, nope | rope] to [T, heads, rank | rope]. A rotation by 0 is a copy.
Status LatentAttentionLayer::absorb(device::Encoder& encoder, const Step& step, const Tensor& q,
                                    const Tensor& absorbed) const {
  PAGODA_RETURN_IF_ERROR(ops::expert_matmul(encoder, {.x = by_head(q, 0, nope_),
                                                      .weight = k_,
                                                      .num_experts = num_heads_,
                                                      .ids = step.head_ids,
                                                      .out = by_head(absorbed, 0, rank_)}));
  PAGODA_RETURN_IF_ERROR(rotate(encoder, step, slice(q, 2, nope_, rope_), slice(absorbed, 2, rank_, rope_)));
  if (rotary_scale_ == 1.0f) return ok_status();
  return ops::scale_rows(encoder, {.x = by_head(absorbed, rank_, rope_), .factor = rotary_scale_});
}

Status LatentAttentionLayer::forward(device::Encoder& encoder, const Step& step) const {
  const Tensor projected = as_rows(step.projected, in_->rows());
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = {}, .out = projected}));
  PAGODA_RETURN_IF_ERROR(cache(encoder, step, slice(projected, 1, q_rank_, rank_ + rope_)));

  const Tensor latent = slice(projected, 1, 0, q_rank_);
  if (q_rank_ > 0) PAGODA_RETURN_IF_ERROR(norm(encoder, latent, q_norm_));
  const Tensor q = as_dense_rows(step.inner, num_heads_ * (nope_ + rope_));
  PAGODA_RETURN_IF_ERROR(
      ops::matmul(encoder, {.x = q_rank_ > 0 ? latent : step.normed, .weight = q_, .bias = {}, .out = q}));
  const Tensor absorbed =
      split_last(as_dense_rows(step.mixed, num_heads_ * (rank_ + rope_)), num_heads_, rank_ + rope_);
  PAGODA_RETURN_IF_ERROR(absorb(encoder, step, split_last(q, num_heads_, nope_ + rope_), absorbed));

  const Tensor sums = split_last(as_dense_rows(step.inner, num_heads_ * rank_), num_heads_, rank_);
  PAGODA_RETURN_IF_ERROR(ops::latent_attention(
      encoder, {.q = absorbed, .cache = pool_->latents, .sequences = step.sequences, .scale = scale_, .out = sums}));
  const Tensor values = as_dense_rows(step.mixed, num_heads_ * v_dim_);
  PAGODA_RETURN_IF_ERROR(
      ops::expert_matmul(encoder, {.x = by_head(sums, 0, rank_),
                                   .weight = v_,
                                   .num_experts = num_heads_,
                                   .ids = step.head_ids,
                                   .out = by_head(split_last(values, num_heads_, v_dim_), 0, v_dim_)}));
  return ops::matmul(encoder, {.x = values, .weight = out_, .bias = {}, .out = step.delta});
}

}  // namespace pagoda::model
