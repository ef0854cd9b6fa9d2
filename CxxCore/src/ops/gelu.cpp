// Checks of gelu_mul and scale_rows.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status gelu_mul(device::Encoder& encoder, const device::GeluMulArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("out", args.out, DType::f32, {kAny, kAny})
      .tensor("x", args.x, DType::f32, {args.out.shape[0], 2 * args.out.shape[1]});
  return encode(check, encoder, args);
}

Status scale_rows(device::Encoder& encoder, const device::ScaleRowsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
