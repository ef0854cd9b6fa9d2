// Attention: project, normalise and rotate q and k, cache k and v, attend, gate, project back.
#include "model/layers/layers.h"
#include "model/layers/rope.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::split_last;
using device::Tensor;

namespace {

bool is_sliding(const io::ModelConfig& config, int layer_index) noexcept {
  return layer_index < config.num_layers &&  // an MTP head's layer is not counted
         config.layers[layer_index] == io::LayerKind::sliding_attention;
}

}  // namespace

AttentionLayer::AttentionLayer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mixer_in)),
      out_(weights.matrix(layer_index, Role::mixer_out)),
      in_bias_(weights.vector(layer_index, Role::mixer_in_bias)),
      out_bias_(weights.vector(layer_index, Role::mixer_out_bias)),
      inv_freq_(weights.inv_freq(is_sliding(config, layer_index))),
      q_norm_(weights.vector(layer_index, Role::q_norm)),
      k_norm_(weights.vector(layer_index, Role::k_norm)),
      num_heads_(config.num_heads),
      num_kv_heads_(config.num_kv_heads),
      head_dim_(config.head_dim),
      has_gate_(config.attention_gate),
      norms_all_heads_(config.norms_all_heads),
      window_(is_sliding(config, layer_index) ? config.sliding_window : 0),
      scale_(config.attention_scale *
             static_cast<float>(rope_score_factor(is_sliding(config, layer_index) ? config.sliding_rope : config.rope,
                                                  config.head_dim))),
      norm_eps_(config.rms_norm_eps),
      norm_offset_(config.zero_centered_norm ? 1.0f : 0.0f),
      layer_index_(layer_index) {
  if (config.has_indexer(layer_index)) indexer_.emplace(config, weights, layer_index);
}

Status AttentionLayer::rotate_run(device::Encoder& encoder, const RopeRun& run, const Tensor& positions,
                                  const Tensor& heads, const Tensor& norm) const {
  const Tensor rows = slice(heads, 0, run.first_row, run.num_rows);
  Tensor speeds = slice(inv_freq_, 0, run.table_row, 1);
  speeds = device::dense(speeds.buffer, speeds.dtype, {inv_freq_.shape[1]}, speeds.offset_bytes);
  return ops::qk_norm_rope(encoder, {.x = rows,
                                     .weight = norm,
                                     .eps = norm_eps_,
                                     .weight_offset = norm_offset_,
                                     .positions = slice(positions, 0, run.first_row, run.num_rows),
                                     .inv_freq = speeds,
                                     .out = rows});
}

// An image token is normalised once, with the rotation by its first coordinate.
Status AttentionLayer::rotate(device::Encoder& encoder, const Step& step, const Tensor& heads,
                              const Tensor& norm) const {
  for (const RopeRun& run : step.rope_runs) {
    if (!run.is_image) {
      PAGODA_RETURN_IF_ERROR(rotate_run(encoder, run, step.positions, heads, norm));
      continue;
    }
    const Tensor* coordinates[] = {&step.positions, &step.heights, &step.widths};
    for (int i = 0; i < 3; ++i) {
      const RopeRun part{run.first_row, run.num_rows, image_rope_row(inv_freq_.shape[0], i)};
      PAGODA_RETURN_IF_ERROR(rotate_run(encoder, part, *coordinates[i], heads, i == 0 ? norm : Tensor{}));
    }
  }
  return ok_status();
}

// The layout of `projected`: [q | gate] per head, then all k, then all v.
AttentionLayer::Parts AttentionLayer::split(const Tensor& projected) const noexcept {
  const int64_t q_head = has_gate_ ? 2 * head_dim_ : head_dim_, q_width = num_heads_ * q_head;
  const int64_t kv_width = num_kv_heads_ * head_dim_;
  const Tensor q_and_gate = split_last(slice(projected, 1, 0, q_width), num_heads_, q_head);
  return {slice(q_and_gate, 2, 0, head_dim_),
          split_last(slice(projected, 1, q_width, kv_width), num_kv_heads_, head_dim_),
          split_last(slice(projected, 1, q_width + kv_width, kv_width), num_kv_heads_, head_dim_),
          has_gate_ ? slice(q_and_gate, 2, head_dim_, head_dim_) : Tensor{}};
}

// One norm over the heads of a token, which are adjacent: there is no gate between them.
Status AttentionLayer::norm_all_heads(device::Encoder& encoder, const Tensor& heads, const Tensor& norm) const {
  Tensor rows = device::dense(heads.buffer, heads.dtype, {heads.shape[0], norm.shape[0]}, heads.offset_bytes);
  rows.strides[0] = heads.strides[0];
  return ops::rms_norm(
      encoder,
      {.x = rows, .residual = {}, .weight = norm, .eps = norm_eps_, .weight_offset = norm_offset_, .out = rows});
}

Status AttentionLayer::write_cache(device::Encoder& encoder, const Step& step, bool rotates_queries) const {
  const Tensor projected = as_rows(step.projected, in_->rows());
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = in_bias_, .out = projected}));
  PAGODA_RETURN_IF_ERROR(add_adapters(encoder, step, layer_index_, Role::mixer_in, step.normed, projected));
  const Parts parts = split(projected);
  if (norms_all_heads_) {
    if (rotates_queries) PAGODA_RETURN_IF_ERROR(norm_all_heads(encoder, parts.q, q_norm_));
    PAGODA_RETURN_IF_ERROR(norm_all_heads(encoder, parts.k, k_norm_));
  }
  // Queries first: devices that fuse rotations with the cache write need this order.
  if (rotates_queries) PAGODA_RETURN_IF_ERROR(rotate(encoder, step, parts.q, norms_all_heads_ ? Tensor{} : q_norm_));
  PAGODA_RETURN_IF_ERROR(rotate(encoder, step, parts.k, norms_all_heads_ ? Tensor{} : k_norm_));
  return ops::reshape_and_cache(
      encoder,
      {.k = parts.k, .v = parts.v, .slot_mapping = step.slot_mapping, .k_cache = pool_->k, .v_cache = pool_->v});
}

Status AttentionLayer::attend(device::Encoder& encoder, const Tensor& q, const device::SequenceArgs& sequences,
                              int32_t window, const Tensor& out) const {
  return ops::paged_attention(encoder, {.q = q,
                                        .k_cache = pool_->k,
                                        .v_cache = pool_->v,
                                        .sequences = sequences,
                                        .scale = scale_,
                                        .window = window,
                                        .out = out});
}

Status AttentionLayer::finish(device::Encoder& encoder, const Step& step, const Parts& parts) const {
  const Tensor mixed = as_rows(step.mixed, num_heads_ * head_dim_);
  const Tensor mixed_heads = split_last(mixed, num_heads_, head_dim_);
  if (has_gate_)
    PAGODA_RETURN_IF_ERROR(ops::sigmoid_gate(
        encoder,
        {.x = mixed_heads, .gate = parts.gate, .out = mixed_heads, .only_next = !step.adapter_slots.is_present()}));
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = mixed, .weight = out_, .bias = out_bias_, .out = step.delta}));
  return add_adapters(encoder, step, layer_index_, Role::mixer_out, mixed, step.delta);
}

Status AttentionLayer::forward(device::Encoder& encoder, const Step& step) const {
  PAGODA_RETURN_IF_ERROR(write_cache(encoder, step, /*rotates_queries=*/true));
  const Parts parts = split(as_rows(step.projected, in_->rows()));
  const Tensor mixed_heads = split_last(as_rows(step.mixed, num_heads_ * head_dim_), num_heads_, head_dim_);
  if (indexer_) {
    const int64_t width = indexer_->width();
    const Tensor projected = slice(as_rows(step.projected, in_->rows()), 1, in_->rows() - width, width);
    PAGODA_RETURN_IF_ERROR(indexer_->choose(encoder, step, projected, pool_->index));
    PAGODA_RETURN_IF_ERROR(indexer_->attend(encoder, step, parts.q, *pool_, scale_, mixed_heads));
  } else {
    PAGODA_RETURN_IF_ERROR(attend(encoder, parts.q, step.sequences, window_, mixed_heads));
  }
  return finish(encoder, step, parts);
}

// A separate window per sequence: from its row back to the first position.
Status AttentionLayer::forward_from(device::Encoder& encoder, const Step& step, int32_t first_position) const {
  PAGODA_RETURN_IF_ERROR(write_cache(encoder, step, /*rotates_queries=*/true));
  const Parts parts = split(as_rows(step.projected, in_->rows()));
  const Tensor mixed_heads = split_last(as_rows(step.mixed, num_heads_ * head_dim_), num_heads_, head_dim_);
  for (int64_t b = 0; b < static_cast<int64_t>(step.host_positions.size()); ++b) {
    device::SequenceArgs one = step.sequences;
    one.cu_seqlens = slice(step.sequences.cu_seqlens, 0, 0, 2);  // one row
    one.context_lens = slice(step.sequences.context_lens, 0, b, 1);
    one.block_tables = slice(step.sequences.block_tables, 0, b, 1);
    one.state_slots = slice(step.sequences.state_slots, 0, b, 1);
    const int32_t window = step.host_positions[b] + 1 - first_position;
    PAGODA_RETURN_IF_ERROR(attend(encoder, slice(parts.q, 0, b, 1), one, window, slice(mixed_heads, 0, b, 1)));
  }
  return finish(encoder, step, parts);
}

}  // namespace pagoda::model
