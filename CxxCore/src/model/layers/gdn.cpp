// Gated DeltaNet: project, convolve over time, run the delta rule, normalise with the output gate, project back.
#include "model/layers/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::split_last;
using device::Tensor;

GdnLayer::GdnLayer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mixer_in)),
      out_(weights.matrix(layer_index, Role::mixer_out)),
      conv_(weights.vector(layer_index, Role::conv)),
      a_log_(weights.vector(layer_index, Role::a_log)),
      dt_bias_(weights.vector(layer_index, Role::dt_bias)),
      norm_(weights.vector(layer_index, Role::gdn_norm)),
      num_k_heads_(config.linear_num_k_heads),
      num_v_heads_(config.linear_num_v_heads),
      k_dim_(config.linear_k_head_dim),
      v_dim_(config.linear_v_head_dim),
      norm_eps_(config.linear_norm_eps),
      beta_scale_(config.linear_beta_scale),
      has_sigmoid_gate_(config.sigmoid_output_gate),
      layer_index_(layer_index) {}

Status GdnLayer::zero_fresh_slots(device::Encoder& encoder, const Step& step) const {
  for (const Tensor& part : pool_->parts())
    PAGODA_RETURN_IF_ERROR(ops::zero_slots(encoder, {.pool = part, .slots = step.fresh_slots}));
  return ok_status();
}

Status GdnLayer::forward(device::Encoder& encoder, const Step& step) const {
  const int64_t k_width = num_k_heads_ * k_dim_, v_width = num_v_heads_ * v_dim_, channels = 2 * k_width + v_width;
  const Tensor projected = as_rows(step.projected, in_->rows());
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = {}, .out = projected}));
  PAGODA_RETURN_IF_ERROR(add_adapters(encoder, step, layer_index_, Role::mixer_in, step.normed, projected));

  const Tensor qkv = as_rows(step.inner, channels);
  // A sigmoid's norm reads the heads of all tokens as rows with a uniform stride, so there are no gaps then.
  const Tensor mixed = has_sigmoid_gate_ ? device::dense(step.mixed.buffer, step.mixed.dtype,
                                                         {step.mixed.shape[0], v_width}, step.mixed.offset_bytes)
                                         : as_rows(step.mixed, v_width);
  const Tensor mixed_heads = split_last(mixed, num_v_heads_, v_dim_);
  for (const Segment& segment : step.segments) {
    const auto rows = [&](const Tensor& t) { return slice(t, 0, segment.first_row, segment.num_rows); };
    PAGODA_RETURN_IF_ERROR(mix(encoder, segment.sequences, rows(projected), rows(qkv), rows(mixed_heads)));
    if (segment.has_save) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, *pool_, segment.save));
  }
  const Tensor z = split_last(slice(projected, 1, channels, v_width), num_v_heads_, v_dim_);
  PAGODA_RETURN_IF_ERROR(gate(encoder, step, mixed, z));
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = mixed, .weight = out_, .bias = {}, .out = step.delta}));
  return add_adapters(encoder, step, layer_index_, Role::mixer_out, mixed, step.delta);
}

Status GdnLayer::gate(device::Encoder& encoder, const Step& step, const Tensor& mixed, const Tensor& z) const {
  const Tensor heads = split_last(mixed, num_v_heads_, v_dim_);
  const bool only_next = !step.adapter_slots.is_present();
  if (!has_sigmoid_gate_)
    return ops::gated_rms_norm(
        encoder, {.x = heads, .z = z, .weight = norm_, .eps = norm_eps_, .out = heads, .only_next = only_next});
  const Tensor by_head =
      device::dense(mixed.buffer, mixed.dtype, {mixed.shape[0] * num_v_heads_, v_dim_}, mixed.offset_bytes);
  PAGODA_RETURN_IF_ERROR(
      ops::rms_norm(encoder, {.x = by_head, .residual = {}, .weight = norm_, .eps = norm_eps_, .out = by_head}));
  return ops::sigmoid_gate(encoder, {.x = heads, .gate = z, .out = heads, .only_next = only_next});
}

Status GdnLayer::mix(device::Encoder& encoder, const device::SequenceArgs& sequences, const Tensor& projected,
                     const Tensor& qkv, const Tensor& mixed_heads) const {
  const int64_t k_width = num_k_heads_ * k_dim_, v_width = num_v_heads_ * v_dim_, channels = 2 * k_width + v_width;
  PAGODA_RETURN_IF_ERROR(ops::causal_conv1d(encoder, {.x = slice(projected, 1, 0, channels),
                                                      .weight = conv_,
                                                      .tail = pool_->tail,
                                                      .sequences = sequences,
                                                      .out = qkv}));
  return ops::gdn(encoder, {.q = split_last(slice(qkv, 1, 0, k_width), num_k_heads_, k_dim_),
                            .k = split_last(slice(qkv, 1, k_width, k_width), num_k_heads_, k_dim_),
                            .v = split_last(slice(qkv, 1, 2 * k_width, v_width), num_v_heads_, v_dim_),
                            .a = slice(projected, 1, channels + v_width + num_v_heads_, num_v_heads_),
                            .b = slice(projected, 1, channels + v_width, num_v_heads_),
                            .a_log = a_log_,
                            .dt_bias = dt_bias_,
                            .sequences = sequences,
                            .state = pool_->state,
                            .k_rows = pool_->k_rows,
                            .u_rows = pool_->u_rows,
                            .g_rows = pool_->g_rows,
                            .out = mixed_heads,
                            .beta_scale = beta_scale_});
}

}  // namespace pagoda::model
