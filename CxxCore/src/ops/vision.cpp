// Checks of layer_norm and gelu.
#include "ops/vision.h"

#include "ops/check.h"

namespace pagoda::ops {

Status layer_norm(device::Encoder& encoder, const device::LayerNormArgs& args) noexcept {
  Check check("layer_norm");
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  const int64_t rows = args.x.shape[0], width = args.x.shape[1];
  check.optional("residual", args.residual, DType::f32, {rows, width})
      .tensor("weight", args.weight, DType::f32, {width})
      .tensor("bias", args.bias, DType::f32, {width})
      .tensor("out", args.out, DType::f32, {rows, width});
  return encode_if_can(check, encoder, device::Op::layer_norm, "layer norms", [&] { encoder.layer_norm(args); });
}

Status gelu(device::Encoder& encoder, const device::GeluArgs& args) noexcept {
  Check check("gelu");
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  return encode_if_can(check, encoder, device::Op::gelu, "GELU", [&] { encoder.gelu(args); });
}

}  // namespace pagoda::ops
