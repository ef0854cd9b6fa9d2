// Kimi Delta Attention: project, convolve over time, run the delta rule with decays by channel, normalise, gate,
// project back. Decays and gate are low-rank projections.
#include "model/layers/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::split_last;
using device::Tensor;

KdaLayer::KdaLayer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mixer_in)),
      decay_(weights.matrix(layer_index, Role::decay)),
      gate_(weights.matrix(layer_index, Role::gate)),
      out_(weights.matrix(layer_index, Role::mixer_out)),
      conv_(weights.vector(layer_index, Role::conv)),
      a_log_(weights.vector(layer_index, Role::a_log)),
      dt_bias_(weights.vector(layer_index, Role::dt_bias)),
      norm_(weights.vector(layer_index, Role::gdn_norm)),
      num_heads_(config.linear_num_v_heads),
      dim_(config.linear_v_head_dim),
      norm_eps_(config.rms_norm_eps) {
  dt_bias_ = device::dense(dt_bias_.buffer, dt_bias_.dtype, {num_heads_, dim_}, dt_bias_.offset_bytes);
}

Status KdaLayer::zero_fresh_slots(device::Encoder& encoder, const Step& step) const {
  for (const Tensor& part : pool_->parts())
    PAGODA_RETURN_IF_ERROR(ops::zero_slots(encoder, {.pool = part, .slots = step.fresh_slots}));
  return ok_status();
}

Status KdaLayer::forward(device::Encoder& encoder, const Step& step) const {
  const int64_t width = num_heads_ * dim_, low_rank = 3 * width + num_heads_;
  const Tensor projected = as_rows(step.projected, in_->rows());
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = {}, .out = projected}));

  const Tensor inner = as_rows(step.inner, 4 * width);  // [q | k | v | decays]
  const Tensor decays = slice(inner, 1, 3 * width, width);
  PAGODA_RETURN_IF_ERROR(
      ops::matmul(encoder, {.x = slice(projected, 1, low_rank, dim_), .weight = decay_, .bias = {}, .out = decays}));
  // Without gaps: the heads of all tokens are then rows with a uniform stride, as the norm requires.
  const Tensor mixed =
      device::dense(step.mixed.buffer, step.mixed.dtype, {step.mixed.shape[0], width}, step.mixed.offset_bytes);
  const Tensor heads = split_last(mixed, num_heads_, dim_);
  for (const Segment& segment : step.segments) {
    const auto rows = [&](const Tensor& t) { return slice(t, 0, segment.first_row, segment.num_rows); };
    PAGODA_RETURN_IF_ERROR(mix(encoder, segment.sequences, rows(projected), rows(inner), rows(heads)));
    if (segment.has_save) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, *pool_, segment.save));
  }
  const Tensor by_head =
      device::dense(mixed.buffer, mixed.dtype, {mixed.shape[0] * num_heads_, dim_}, mixed.offset_bytes);
  PAGODA_RETURN_IF_ERROR(
      ops::rms_norm(encoder, {.x = by_head, .residual = {}, .weight = norm_, .eps = norm_eps_, .out = by_head}));
  const Tensor gate = slice(inner, 1, 0, width);  // the convolution's output is no longer needed
  PAGODA_RETURN_IF_ERROR(ops::matmul(
      encoder, {.x = slice(projected, 1, low_rank + dim_, dim_), .weight = gate_, .bias = {}, .out = gate}));
  PAGODA_RETURN_IF_ERROR(ops::sigmoid_gate(
      encoder, {.x = heads, .gate = split_last(gate, num_heads_, dim_), .out = heads, .only_next = true}));
  return ops::matmul(encoder, {.x = mixed, .weight = out_, .bias = {}, .out = step.delta});
}

Status KdaLayer::mix(device::Encoder& encoder, const device::SequenceArgs& sequences, const Tensor& projected,
                     const Tensor& inner, const Tensor& heads) const {
  const int64_t width = num_heads_ * dim_;
  PAGODA_RETURN_IF_ERROR(ops::causal_conv1d(encoder, {.x = slice(projected, 1, 0, 3 * width),
                                                      .weight = conv_,
                                                      .tail = pool_->tail,
                                                      .sequences = sequences,
                                                      .out = slice(inner, 1, 0, 3 * width)}));
  const auto part = [&](int64_t index) { return split_last(slice(inner, 1, index * width, width), num_heads_, dim_); };
  return ops::kda(encoder, {.q = part(0),
                            .k = part(1),
                            .v = part(2),
                            .a = part(3),
                            .b = slice(projected, 1, 3 * width, num_heads_),
                            .a_log = a_log_,
                            .dt_bias = dt_bias_,
                            .sequences = sequences,
                            .state = pool_->state,
                            .k_rows = pool_->k_rows,
                            .u_rows = pool_->u_rows,
                            .g_rows = pool_->g_rows,
                            .out = heads});
}

}  // namespace pagoda::model
