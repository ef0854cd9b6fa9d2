// Checks of layer_norm and gelu.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status layer_norm(device::Encoder& encoder, const device::LayerNormArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  const int64_t rows = args.x.shape[0], width = args.x.shape[1];
  check.optional("residual", args.residual, DType::f32, {rows, width})
      .tensor("weight", args.weight, DType::f32, {width})
      .tensor("bias", args.bias, DType::f32, {width})
      .tensor("out", args.out, DType::f32, {rows, width});
  return encode(check, encoder, args);
}

Status gelu(device::Encoder& encoder, const device::GeluArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
