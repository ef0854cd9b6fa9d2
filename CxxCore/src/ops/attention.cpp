// Ops on the paged KV cache: reshape_and_cache, paged_attention.
#include <cmath>

#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status reshape_and_cache(device::Encoder& encoder, const device::ReshapeAndCacheArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("k", args.k, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.k.shape[0], heads = args.k.shape[1], dim = args.k.shape[2];
  check.tensor("v", args.v, DType::f32, {rows, heads, dim})
      .tensor("slot_mapping", args.slot_mapping, DType::i64, {rows})
      .cache("k_cache", args.k_cache, {kAny, kAny, heads, dim})
      .cache("v_cache", args.v_cache, {args.k_cache.shape[0], args.k_cache.shape[1], heads, dim})
      .that(args.k_cache.dtype == args.v_cache.dtype, "v_cache", "has another type than k_cache")
      .that(args.k_cache.shape[1] >= 1, "k_cache", "has blocks of no token");
  return encode(check, encoder, args);
}

Status paged_attention(device::Encoder& encoder, const device::PagedAttentionArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("q", args.q, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.q.shape[0], heads = args.q.shape[1], dim = args.q.shape[2];
  check_caches(check, args.k_cache, args.v_cache, heads, dim);
  check.that(args.window >= 0, "window", "is negative")
      .that(std::isfinite(args.softcap) && args.softcap >= 0, "softcap", "is neither 0 nor a positive number")
      .optional("sinks", args.sinks, DType::f32, {heads})
      .tensor("out", args.out, DType::f32, {rows, heads, dim});
  check.that(args.is_causal || args.window == 0, "window", "excludes attention to all positions");
  check_sequences(check, args.sequences, /*wants_blocks=*/true, /*wants_slots=*/false);
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
