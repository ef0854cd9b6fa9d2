// Mixture of experts: route, the shared expert, the chosen experts, and their weighted sum.
#include "io/weight_table.h"
#include "model/layers/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::Tensor;

ExpertMlp::ExpertMlp(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : shared_(config, weights, layer_index),
      router_(weights.matrix(layer_index, Role::router)),
      in_(weights.matrix(layer_index, Role::experts_in)),
      out_(weights.matrix(layer_index, Role::experts_out)),
      bias_(weights.vector(layer_index, Role::router_bias)),
      num_experts_(config.num_experts),
      num_groups_(config.num_expert_groups),
      groups_per_token_(config.groups_per_token),
      size_(config.expert_size),
      padded_size_(io::padded_expert_size(config)),
      has_shared_(config.shared_expert_size > 0),
      has_gate_(has_shared_ && config.shared_expert_gate),
      normalise_(config.norm_topk_prob),
      is_sigmoid_(config.sigmoid_router),
      scale_(config.expert_scale),
      layer_index_(layer_index) {}

Status ExpertMlp::forward(device::Encoder& encoder, const Step& step) const {
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.normed, .weight = router_, .bias = {}, .out = step.router}));
  PAGODA_RETURN_IF_ERROR(add_adapters(encoder, step, layer_index_, Role::router, step.normed, step.router));
  const Tensor logits = slice(step.router, 1, 0, num_experts_);
  PAGODA_RETURN_IF_ERROR(ops::route_experts(encoder, routing(logits, step.expert_ids, step.expert_weights)));
  PAGODA_RETURN_IF_ERROR(guess_next(encoder, step));
  if (has_shared_) PAGODA_RETURN_IF_ERROR(shared_.forward(encoder, step));
  PAGODA_RETURN_IF_ERROR(run_experts(encoder, step));
  return ops::combine_experts(encoder, {.x = slice(step.expert_delta, 1, 0, step.delta.shape[1]),
                                        .weights = step.expert_weights,
                                        .shared = has_shared_ ? step.delta : Tensor{},
                                        .gate = has_gate_ ? slice(step.router, 1, num_experts_, 1) : Tensor{},
                                        .out = step.delta});
}

device::RouteExpertsArgs ExpertMlp::routing(const Tensor& logits, const Tensor& ids,
                                            const Tensor& weights) const noexcept {
  return {.logits = logits,
          .ids = ids,
          .weights = weights,
          .normalise = normalise_,
          .is_sigmoid = is_sigmoid_,
          .bias = bias_,
          .num_groups = num_groups_,
          .groups_per_token = groups_per_token_,
          .scale = scale_,
          .experts_in = in_,
          .experts_out = out_};
}

// What the next layer's router chooses for the rows of this one, so that experts in files are read while this layer and
// the next mixer are computed. Rows that use most experts anyway need no guess. Logits are where this layer's were;
// ids and weights are in rows that its products overwrite.
Status ExpertMlp::guess_next(device::Encoder& encoder, const Step& step) const {
  const int64_t num_rows = step.expert_ids.shape[0], per_token = step.expert_ids.shape[1];
  if (next_ == nullptr || !next_->in_->is_streamed() || 2 * num_rows * per_token > num_experts_) return ok_status();
  const Tensor logits = slice(step.router, 1, 0, num_experts_);
  const Tensor weights =
      device::dense(step.expert_delta.buffer, DType::f32, {num_rows, per_token}, step.expert_delta.offset_bytes);
  const Tensor ids =
      device::dense(step.expert_inner.buffer, DType::i32, {num_rows, per_token}, step.expert_inner.offset_bytes);
  PAGODA_RETURN_IF_ERROR(ops::matmul(
      encoder, {.x = step.normed, .weight = next_->router_, .bias = {}, .out = logits, .takes_first_rows = true}));
  device::RouteExpertsArgs guess = next_->routing(logits, ids, weights);
  guess.is_guess = true;
  return ops::route_experts(encoder, guess);
}

// As in Mlp, an adapter changes gate and up before they are multiplied. Gate and up of adapters have no padding.
Status ExpertMlp::run_experts(device::Encoder& encoder, const Step& step) const {
  const bool is_fused = !has_adapters(step, layer_index_, Role::experts_in);
  const Tensor product = slice(step.expert_inner, 1, 0, padded_size_);
  const Tensor in = is_fused ? product : slice(step.expert_inner, 1, 0, 2 * padded_size_);
  PAGODA_RETURN_IF_ERROR(ops::expert_matmul(encoder, {.x = step.normed,
                                                      .weight = in_,
                                                      .num_experts = num_experts_,
                                                      .ids = step.expert_ids,
                                                      .out = in,
                                                      .silu_mul = is_fused}));
  if (!is_fused) {
    PAGODA_RETURN_IF_ERROR(
        add_adapters(encoder, step, layer_index_, Role::experts_in, step.normed, in, step.expert_ids));
    PAGODA_RETURN_IF_ERROR(ops::silu_mul(encoder, {.x = in, .out = product}));
  }
  PAGODA_RETURN_IF_ERROR(ops::expert_matmul(
      encoder,
      {.x = product, .weight = out_, .num_experts = num_experts_, .ids = step.expert_ids, .out = step.expert_delta}));
  return add_adapters(encoder, step, layer_index_, Role::experts_out, slice(product, 1, 0, size_), step.expert_delta,
                      step.expert_ids);
}

}  // namespace pagoda::model
