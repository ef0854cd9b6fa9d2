// Normalisation ops: rms_norm, qk_norm_rope, gated_rms_norm.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status rms_norm(device::Encoder& encoder, const device::RmsNormArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  const int64_t rows = args.x.shape[0], width = args.x.shape[1];
  check.optional("residual", args.residual, DType::f32, {rows, width})
      .tensor("weight", args.weight, DType::f32, {width})
      .tensor("out", args.out, DType::f32, {rows, width});
  return encode(check, encoder, args);
}

Status qk_norm_rope(device::Encoder& encoder, const device::QkNormRopeArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.x.shape[0], heads = args.x.shape[1], dim = args.x.shape[2];
  check.that(dim <= device::kMaxHeadDim, "x", "has a head dim above 512")
      .optional("weight", args.weight, DType::f32, {dim})
      .tensor("positions", args.positions, DType::i32, {rows})
      .tensor("inv_freq", args.inv_freq, DType::f32, {kAny})
      .that(2 * args.inv_freq.shape[0] <= dim, "inv_freq", "rotates more dims than a head has")
      .tensor("out", args.out, DType::f32, {rows, heads, dim});
  return encode(check, encoder, args);
}

Status gated_rms_norm(device::Encoder& encoder, const device::GatedRmsNormArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.x.shape[0], heads = args.x.shape[1], dim = args.x.shape[2];
  check.tensor("z", args.z, DType::f32, {rows, heads, dim})
      .tensor("weight", args.weight, DType::f32, {dim})
      .tensor("out", args.out, DType::f32, {rows, heads, dim});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
