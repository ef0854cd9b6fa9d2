// The indexer of sparse attention: rotates index queries, caches index keys, chooses blocks and attends to them.
#include "model/layers/layers.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::Tensor;

Indexer::Indexer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : q_norm_(weights.vector(layer_index, Role::index_q_norm)),
      k_norm_(weights.vector(layer_index, Role::index_k_norm)),
      inv_freq_(slice(weights.inv_freq(/*is_sliding=*/false), 0, 0, 1)),
      num_heads_(config.indexer.num_heads),
      dim_(config.indexer.head_dim),
      ratio_(config.indexer.ratio),
      norm_eps_(config.rms_norm_eps),
      norm_offset_(config.zero_centered_norm ? 1.0f : 0.0f) {
  inv_freq_ = device::dense(inv_freq_.buffer, inv_freq_.dtype, {inv_freq_.shape[1]}, inv_freq_.offset_bytes);
}

Status Indexer::choose(device::Encoder& encoder, const Step& step, const Tensor& projected, const Tensor& cache) const {
  const Tensor q = device::split_last(slice(projected, 1, 0, num_heads_ * dim_), num_heads_, dim_);
  PAGODA_RETURN_IF_ERROR(ops::qk_norm_rope(encoder, {.x = q,
                                                     .weight = q_norm_,
                                                     .eps = norm_eps_,
                                                     .weight_offset = norm_offset_,
                                                     .positions = step.positions,
                                                     .inv_freq = inv_freq_,
                                                     .out = q}));
  PAGODA_RETURN_IF_ERROR(ops::cache_index_keys(encoder, {.x = slice(projected, 1, num_heads_ * dim_, dim_),
                                                         .weight = k_norm_,
                                                         .eps = norm_eps_,
                                                         .weight_offset = norm_offset_,
                                                         .inv_freq = inv_freq_,
                                                         .ratio = ratio_,
                                                         .sequences = step.sequences,
                                                         .cache = cache}));
  return ops::select_blocks(
      encoder, {.q = q, .cache = cache, .ratio = ratio_, .sequences = step.sequences, .out = step.chosen_blocks});
}

Status Indexer::attend(device::Encoder& encoder, const Step& step, const Tensor& q, const KvPool& pool, float scale,
                       const Tensor& out) const {
  return ops::block_attention(encoder, {.q = q,
                                        .k_cache = pool.k,
                                        .v_cache = pool.v,
                                        .blocks = step.chosen_blocks,
                                        .ratio = ratio_,
                                        .sequences = step.sequences,
                                        .scale = scale,
                                        .out = out});
}

}  // namespace pagoda::model
