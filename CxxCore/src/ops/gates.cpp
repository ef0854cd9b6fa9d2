// Elementwise ops: sigmoid_gate, silu_mul.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status sigmoid_gate(device::Encoder& encoder, const device::SigmoidGateArgs& args) noexcept {
  Check check("sigmoid_gate");
  check.tensor("x", args.x, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.x.shape[0], heads = args.x.shape[1], dim = args.x.shape[2];
  check.tensor("gate", args.gate, DType::f32, {rows, heads, dim})
      .tensor("out", args.out, DType::f32, {rows, heads, dim});
  if (check.is_ok()) encoder.sigmoid_gate(args);
  return check.status();
}

Status silu_mul(device::Encoder& encoder, const device::SiluMulArgs& args) noexcept {
  Check check("silu_mul");
  check.tensor("gate", args.gate, DType::f32, {kAny, kAny});
  const int64_t rows = args.gate.shape[0], width = args.gate.shape[1];
  check.tensor("up", args.up, DType::f32, {rows, width}).tensor("out", args.out, DType::f32, {rows, width});
  if (check.is_ok()) encoder.silu_mul(args);
  return check.status();
}

}  // namespace pagoda::ops
