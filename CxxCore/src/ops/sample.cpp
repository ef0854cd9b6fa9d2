// Argument checks of sample.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status sample(device::Encoder& encoder, const device::SampleArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("logits", args.logits, DType::f32, {kAny, kAny})
      .tensor("draws", args.draws, DType::i64, {args.logits.shape[0], 7})
      .tensor("tokens", args.tokens, DType::i32, {args.logits.shape[0]})
      .that(args.logits.shape[1] >= 1 && device::max_top_k(args.logits.shape[1]) >= 1, "logits",
            "are of an impossible vocabulary");
  if (args.edits.is_present()) check.tensor("edits", args.edits, DType::i32, {kAny, 4});
  if (args.scores.is_present()) check.tensor("scores", args.scores, DType::i64, {args.logits.shape[0], 22});
  if (args.masks.is_present())
    check.tensor("masks", args.masks, DType::i32, {kAny, kAny})
        .that(args.masks.shape[1] * 32 >= args.logits.shape[1], "masks", "are shorter than the vocabulary");
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
