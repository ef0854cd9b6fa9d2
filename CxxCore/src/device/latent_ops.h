// Arguments of multi-head latent attention (MLA) over a cache of one row per token: cache_latents, latent_attention.
// A row is [latent | rotated key]: all heads share it, and its first part is the value.
#pragma once

#include <cstdint>

#include "device/op_args.h"

namespace pagoda::device {

// Maximum elements of a row; those of its value are at most kMaxHeadDim.
constexpr int64_t kMaxLatentDim = 576;

// Writes the row of each token to its slot: block = slot / block_size, offset = slot % block_size.
struct CacheLatentsArgs {
  static constexpr const char* kName = "cache_latents";
  Tensor x;             // f32 [T, D], rows strided
  Tensor slot_mapping;  // i64 [T]
  Tensor cache;         // f32, f16, bf16 or i8 (base/kv_row.h) [num_blocks, block_size, D], strided
};

// Causal attention in absorbed form: a head's query, already multiplied by its key projection, is compared with whole
// rows, and its output is a weighted sum of their first Dv elements, to be multiplied by its value projection. Sums as
// in PagedAttentionArgs, so that a row's bits depend only on its own prefix.
struct LatentAttentionArgs {
  static constexpr const char* kName = "latent_attention";
  Tensor q;      // f32 [T, heads, D]
  Tensor cache;  // as in CacheLatentsArgs
  SequenceArgs sequences;
  float scale = 1.0f;
  Tensor out;  // f32 [T, heads, Dv]
};

// The cache as PagedAttentionArgs expects it, with a dimension for its one KV head; only the first `dim` elements of
// each row.
inline Tensor with_one_head(Tensor cache, int64_t dim) noexcept {
  cache.rank = 4;
  cache.shape[2] = 1;
  cache.strides[2] = cache.strides[1];
  cache.shape[3] = dim;
  cache.strides[3] = 1;
  return cache;
}

}  // namespace pagoda::device
