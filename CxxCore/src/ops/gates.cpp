// Elementwise op: sigmoid_gate.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status sigmoid_gate(device::Encoder& encoder, const device::SigmoidGateArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.x.shape[0], heads = args.x.shape[1], dim = args.x.shape[2];
  check.tensor("gate", args.gate, DType::f32, {rows, heads, dim})
      .tensor("out", args.out, DType::f32, {rows, heads, dim});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
