// Argument checks of sample.
#include "ops/sample.h"

#include "ops/check.h"

namespace pagoda::ops {

Status sample(device::Encoder& encoder, const device::SampleArgs& args) noexcept {
  Check check("sample");
  check.tensor("logits", args.logits, DType::f32, {kAny, kAny})
      .tensor("draws", args.draws, DType::i64, {args.logits.shape[0], 4})
      .tensor("tokens", args.tokens, DType::i32, {args.logits.shape[0]})
      .that(args.logits.shape[1] >= 1 && device::max_top_k(args.logits.shape[1]) >= 1, "logits",
            "are of an impossible vocabulary");
  return encode_if_can(check, encoder, device::Op::sample, "sample", [&] { encoder.sample(args); });
}

}  // namespace pagoda::ops
