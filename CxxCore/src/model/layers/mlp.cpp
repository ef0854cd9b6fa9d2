// MLP: down(silu(gate) * up), or with GELU.
#include "model/layers/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

Mlp::Mlp(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mlp_in)),
      out_(weights.matrix(layer_index, Role::mlp_out)),
      in_bias_(weights.vector(layer_index, Role::mlp_in_bias)),
      out_bias_(weights.vector(layer_index, Role::mlp_out_bias)),
      gelu_(config.gelu),
      layer_index_(layer_index) {}

Status Mlp::forward(device::Encoder& encoder, const Step& step) const {
  // An adapter changes gate and up before they are multiplied; the bits of other rows are the same either way.
  const bool is_fused = !gelu_ && !has_adapters(step, layer_index_, Role::mlp_in);
  device::Tensor product = as_rows(step.inner, is_fused ? out_->cols() : in_->rows());
  PAGODA_RETURN_IF_ERROR(
      ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = in_bias_, .out = product, .silu_mul = is_fused}));
  if (!is_fused) {
    const device::Tensor both = product;
    product = device::slice(both, 1, 0, out_->cols());
    PAGODA_RETURN_IF_ERROR(add_adapters(encoder, step, layer_index_, Role::mlp_in, step.normed, both));
    PAGODA_RETURN_IF_ERROR(gelu_ ? ops::gelu_mul(encoder, {.x = both, .out = product})
                                 : ops::silu_mul(encoder, {.x = both, .out = product}));
  }
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = product, .weight = out_, .bias = out_bias_, .out = step.delta}));
  return add_adapters(encoder, step, layer_index_, Role::mlp_out, product, step.delta);
}

}  // namespace pagoda::model
