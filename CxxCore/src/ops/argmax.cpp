// Argument checks of argmax.
#include "ops/argmax.h"

#include "ops/check.h"

namespace pagoda::ops {

Status argmax(device::Encoder& encoder, const device::ArgmaxArgs& args) noexcept {
  Check check("argmax");
  check.tensor("logits", args.logits, DType::f32, {kAny, kAny})
      .tensor("tokens", args.tokens, DType::i32, {args.logits.shape[0]})
      .that(args.logits.shape[1] >= 1 && args.logits.shape[1] <= INT32_MAX, "logits",
            "are of an impossible vocabulary");
  if (!check.is_ok()) return check.status();
  device::PickOps* ops = device::pick_ops(encoder);
  if (ops == nullptr) return make_error(StatusCode::unsupported, "this device has no argmax");
  ops->argmax(args);
  return ok_status();
}

}  // namespace pagoda::ops
