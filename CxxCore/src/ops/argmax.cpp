// Argument checks of argmax.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status argmax(device::Encoder& encoder, const device::ArgmaxArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("logits", args.logits, DType::f32, {kAny, kAny})
      .tensor("tokens", args.tokens, DType::i32, {args.logits.shape[0]})
      .that(args.logits.shape[1] >= 1 && args.logits.shape[1] <= INT32_MAX, "logits",
            "are of an impossible vocabulary");
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
