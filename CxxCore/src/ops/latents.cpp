// Argument checks of cache_latents and latent_attention.
#include <cmath>

#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status cache_latents(device::Encoder& encoder, const device::CacheLatentsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny})
      .tensor("slot_mapping", args.slot_mapping, DType::i64, {args.x.shape[0]})
      .cache("cache", args.cache, {kAny, kAny, args.x.shape[1]})
      .that(args.cache.shape[1] >= 1, "cache", "has blocks of no token");
  return encode(check, encoder, args);
}

Status latent_attention(device::Encoder& encoder, const device::LatentAttentionArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("q", args.q, DType::f32, {kAny, kAny, kAny});
  const int64_t dim = args.q.shape[2];
  check.that(dim <= device::kMaxLatentDim, "q", "has rows above 576")
      .cache("cache", args.cache, {kAny, kAny, dim})
      .that(args.cache.shape[1] >= 1, "cache", "has blocks of no token")
      .that(std::isfinite(args.scale), "scale", "is not a finite number")
      .tensor("out", args.out, DType::f32, {args.q.shape[0], args.q.shape[1], kAny})
      .that(args.out.shape[2] >= 1 && args.out.shape[2] <= dim && args.out.shape[2] <= device::kMaxHeadDim, "out",
            "has values above 512 or wider than a row");
  check_sequences(check, args.sequences, /*wants_blocks=*/true, /*wants_slots=*/false);
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
