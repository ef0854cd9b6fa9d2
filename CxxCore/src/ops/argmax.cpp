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
  return encode_if_can(check, encoder, device::Op::argmax, "argmax", [&] { encoder.argmax(args); });
}

}  // namespace pagoda::ops
