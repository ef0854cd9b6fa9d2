// Argument checks of cache_index_keys, select_blocks and block_attention.
#include <cmath>

#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {
namespace {

Check& index_cache(Check& check, const device::Tensor& cache, int64_t dim, int64_t ratio) noexcept {
  return check.that(dim > 0 && dim <= device::kMaxHeadDim, "cache", "has rows outside 1 to 512")
      .tensor("cache", cache, DType::f32, {kAny, kAny, dim})
      .that(cache.shape[1] >= 1, "cache", "has blocks of no token")
      .that(ratio >= 1 && ratio <= device::kMaxIndexBudget, "ratio", "is outside 1 to 131072");
}

// K blocks of `ratio` tokens for each row.
Check& chosen(Check& check, const char* argument, const device::Tensor& blocks, int64_t rows, int64_t ratio) noexcept {
  return check.tensor(argument, blocks, DType::i32, {rows, kAny})
      .that(ratio >= 1 && blocks.shape[1] >= 1 && blocks.shape[1] <= device::kMaxIndexBudget / ratio, argument,
            "has no block for a token, or more than 131072 tokens");
}

}  // namespace

Status cache_index_keys(device::Encoder& encoder, const device::CacheIndexKeysArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  if (!check.is_ok()) return check.status();
  const int64_t dim = args.x.shape[1];
  index_cache(check, args.cache, dim, args.ratio)
      .tensor("weight", args.weight, DType::f32, {dim})
      .tensor("inv_freq", args.inv_freq, DType::f32, {kAny})
      .that(2 * args.inv_freq.shape[0] <= dim, "inv_freq", "rotates more than a row");
  check_sequences(check, args.sequences, /*wants_blocks=*/true, /*wants_slots=*/false);
  return encode(check, encoder, args);
}

Status select_blocks(device::Encoder& encoder, const device::SelectBlocksArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("q", args.q, DType::f32, {kAny, kAny, kAny});
  if (!check.is_ok()) return check.status();
  index_cache(check, args.cache, args.q.shape[2], args.ratio);
  chosen(check, "out", args.out, args.q.shape[0], args.ratio);
  check_sequences(check, args.sequences, /*wants_blocks=*/true, /*wants_slots=*/false);
  return encode(check, encoder, args);
}

Status block_attention(device::Encoder& encoder, const device::BlockAttentionArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("q", args.q, DType::f32, {kAny, kAny, kAny});
  const int64_t rows = args.q.shape[0], heads = args.q.shape[1], dim = args.q.shape[2];
  check_caches(check, args.k_cache, args.v_cache, heads, dim);
  if (!check.is_ok()) return check.status();
  check
      .that(args.k_cache.strides[0] % (args.k_cache.shape[1] * args.k_cache.strides[1]) == 0 &&
                args.v_cache.strides == args.k_cache.strides,
            "k_cache", "has blocks that are not a multiple of their rows, or other strides than v_cache")
      .that(std::isfinite(args.scale), "scale", "is not a finite number")
      .tensor("out", args.out, DType::f32, {rows, heads, dim});
  chosen(check, "blocks", args.blocks, rows, args.ratio);
  check_sequences(check, args.sequences, /*wants_blocks=*/true, /*wants_slots=*/false);
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
