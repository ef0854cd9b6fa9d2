// MLP: down(silu(gate) * up).
#include "model/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

Mlp::Mlp(const Weights& weights, int layer_index)
    : in_(weights.matrix(layer_index, Role::mlp_in)),
      out_(weights.matrix(layer_index, Role::mlp_out)),
      in_bias_(weights.vector(layer_index, Role::mlp_in_bias)),
      out_bias_(weights.vector(layer_index, Role::mlp_out_bias)) {}

Status Mlp::forward(device::Encoder& encoder, const Step& step) const {
  const device::Tensor product = as_rows(step.inner, out_->cols());
  PAGODA_RETURN_IF_ERROR(
      ops::matmul(encoder, {.x = step.normed, .weight = in_, .bias = in_bias_, .out = product, .silu_mul = true}));
  return ops::matmul(encoder, {.x = product, .weight = out_, .bias = out_bias_, .out = step.delta});
}

}  // namespace pagoda::model
