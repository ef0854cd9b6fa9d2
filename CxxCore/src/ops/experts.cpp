// Argument checks of the expert ops: route_experts, expert_matmul, combine_experts.
#include <cmath>

#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status route_experts(device::Encoder& encoder, const device::RouteExpertsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("ids", args.ids, DType::i32, {kAny, kAny})
      .tensor("weights", args.weights, DType::f32, {args.ids.shape[0], args.ids.shape[1]})
      .tensor("logits", args.logits, DType::f32, {args.ids.shape[0], kAny})
      .that(args.logits.shape[1] <= device::kMaxExperts, "logits", "are of too many experts")
      .that(args.ids.shape[1] >= 1 && args.ids.shape[1] <= args.logits.shape[1] &&
                args.ids.shape[1] <= device::kMaxExpertsPerToken,
            "ids", "ask for an impossible number of experts")
      .optional("bias", args.bias, DType::f32, {args.logits.shape[1]})
      .that(args.is_sigmoid || !args.bias.is_present(), "bias", "is not of a sigmoid")
      .that(std::isfinite(args.scale), "scale", "is not a finite number")
      .that(args.num_groups >= 1 && args.groups_per_token >= 1 && args.groups_per_token <= args.num_groups,
            "num_groups", "is out of range");
  if (!check.is_ok()) return check.status();
  const int64_t group = args.logits.shape[1] / args.num_groups;
  check
      .that(group * args.num_groups == args.logits.shape[1] && (args.num_groups == 1 || !args.is_sigmoid || group >= 2),
            "num_groups", "does not divide the experts into groups of two or more")
      .that(args.groups_per_token * group >= args.ids.shape[1], "groups_per_token", "has too few experts");
  return encode(check, encoder, args);
}

Status expert_matmul(device::Encoder& encoder, const device::ExpertMatmulArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny})
      .tensor("ids", args.ids, DType::i32, {kAny, kAny})
      .weight("weight", args.weight, kAny, args.x.shape[1])
      .that(args.num_experts >= 1 && args.num_experts <= device::kMaxExperts, "num_experts", "is out of range");
  if (!check.is_ok()) return check.status();
  const int64_t slots = args.ids.shape[0] * args.ids.shape[1], rows = args.weight->rows() / args.num_experts;
  check.that(args.x.shape[0] == args.ids.shape[0] || args.x.shape[0] == slots, "x", "has a row for no token or expert")
      .that(rows * args.num_experts == args.weight->rows() && rows % kExpertRowMultiple == 0, "weight",
            "does not have a multiple of 16 rows for every expert")
      .tensor("out", args.out, DType::f32, {slots, args.silu_mul ? rows / 2 : rows});
  return encode(check, encoder, args);
}

Status combine_experts(device::Encoder& encoder, const device::CombineExpertsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("weights", args.weights, DType::f32, {kAny, kAny})
      .tensor("out", args.out, DType::f32, {args.weights.shape[0], kAny})
      .that(args.shared.is_present() || !args.gate.is_present(), "gate", "is not there as the shared expert is")
      .optional("shared", args.shared, DType::f32, {args.out.shape[0], args.out.shape[1]})
      .optional("gate", args.gate, DType::f32, {args.out.shape[0], 1})
      .tensor("x", args.x, DType::f32, {args.weights.shape[0] * args.weights.shape[1], args.out.shape[1]});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
