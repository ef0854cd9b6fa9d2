// Checks of gelu_mul and scale_rows.
#include "ops/gelu.h"

#include "ops/check.h"

namespace pagoda::ops {
namespace {

template <class Op>
Status run(Check& check, device::Encoder& encoder, Op&& op) noexcept {
  if (!check.is_ok()) return check.status();
  device::GeluOps* gelu = device::gelu_ops(encoder);
  if (gelu == nullptr) return make_error(StatusCode::unsupported, "this device has no GELU");
  op(*gelu);
  return ok_status();
}

}  // namespace

Status gelu_mul(device::Encoder& encoder, const device::GeluMulArgs& args) noexcept {
  Check check("gelu_mul");
  check.tensor("out", args.out, DType::f32, {kAny, kAny})
      .tensor("x", args.x, DType::f32, {args.out.shape[0], 2 * args.out.shape[1]});
  return run(check, encoder, [&](device::GeluOps& gelu) { gelu.gelu_mul(args); });
}

Status scale_rows(device::Encoder& encoder, const device::ScaleRowsArgs& args) noexcept {
  Check check("scale_rows");
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  return run(check, encoder, [&](device::GeluOps& gelu) { gelu.scale_rows(args); });
}

}  // namespace pagoda::ops
