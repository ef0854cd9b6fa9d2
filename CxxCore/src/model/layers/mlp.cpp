// MLP: down(silu(gate) * up), or with GELU.
#include "model/layers/layers.h"
#include "ops/gelu.h"
#include "ops/ops.h"

namespace pagoda::model {

Mlp::Mlp(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mlp_in)),
      out_(weights.matrix(layer_index, Role::mlp_out)),
      in_bias_(weights.vector(layer_index, Role::mlp_in_bias)),
      out_bias_(weights.vector(layer_index, Role::mlp_out_bias)),
      gelu_(config.gelu) {}

Status Mlp::forward(device::Encoder& encoder, const Step& step) const {
  device::Tensor product = as_rows(step.inner, gelu_ ? in_->rows() : out_->cols());
  PAGODA_RETURN_IF_ERROR(
      ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = in_bias_, .out = product, .silu_mul = !gelu_}));
  if (gelu_) {
    const device::Tensor both = product;
    product = device::slice(both, 1, 0, out_->cols());
    PAGODA_RETURN_IF_ERROR(ops::gelu_mul(encoder, {.x = both, .out = product}));
  }
  return ops::matmul(encoder, {.x = product, .weight = out_, .bias = out_bias_, .out = step.delta});
}

}  // namespace pagoda::model
