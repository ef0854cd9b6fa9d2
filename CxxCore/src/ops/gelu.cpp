// Checks of gelu_mul and scale_rows.
#include "ops/gelu.h"

#include "ops/check.h"

namespace pagoda::ops {

Status gelu_mul(device::Encoder& encoder, const device::GeluMulArgs& args) noexcept {
  Check check("gelu_mul");
  check.tensor("out", args.out, DType::f32, {kAny, kAny})
      .tensor("x", args.x, DType::f32, {args.out.shape[0], 2 * args.out.shape[1]});
  return encode_if_can(check, encoder, device::Op::gelu_mul, "GELU", [&] { encoder.gelu_mul(args); });
}

Status scale_rows(device::Encoder& encoder, const device::ScaleRowsArgs& args) noexcept {
  Check check("scale_rows");
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  return encode_if_can(check, encoder, device::Op::scale_rows, "scaling of rows", [&] { encoder.scale_rows(args); });
}

}  // namespace pagoda::ops
