// N-gram embeddings: hash and look up, project, gate by stream, convolve over time, add to the streams.
#include "ops/ops.h"

#include "model/layers/streams.h"

namespace pagoda::model {

using device::slice;
using device::Tensor;

NgramLayer::NgramLayer(const io::ModelConfig& config, const Weights& weights, int layer_index)
    : hash_(weights.ngram_hash(layer_index)),
      table_(weights.table(layer_index)),
      in_(weights.matrix(layer_index, Role::ngram_in)),
      conv_(weights.vector(layer_index, Role::ngram_conv)),
      eps_(config.rms_norm_eps) {
  const auto by_stream = [&](Role role) {
    const Tensor weight = weights.vector(layer_index, role);
    return device::dense(weight.buffer, weight.dtype, {config.num_streams, config.hidden_size}, weight.offset_bytes);
  };
  key_norm_ = by_stream(Role::ngram_key_norm);
  query_norm_ = by_stream(Role::ngram_query_norm);
  conv_norm_ = by_stream(Role::ngram_conv_norm);
}

Status NgramLayer::zero_fresh_slots(device::Encoder& encoder, const Step& step) const {
  for (const Tensor& part : pool_->parts())
    PAGODA_RETURN_IF_ERROR(ops::zero_slots(encoder, {.pool = part, .slots = step.fresh_slots}));
  return ok_status();
}

Status NgramLayer::look_up(device::Encoder& encoder, const Step& step) const {
  for (const Segment& segment : step.segments) {
    const auto rows = [&](const Tensor& t) { return slice(t, 0, segment.first_row, segment.num_rows); };
    PAGODA_RETURN_IF_ERROR(ops::ngram_embedding(encoder, {.ids = rows(step.token_ids),
                                                          .tokens = pool_->tokens,
                                                          .sequences = segment.sequences,
                                                          .hash = &hash_,
                                                          .table = table_,
                                                          .out = rows(step.ngram_rows)}));
    PAGODA_RETURN_IF_ERROR(save(encoder, segment, pool_->tokens));
  }
  return ok_status();
}

Status NgramLayer::convolve(device::Encoder& encoder, const Step& step, const Tensor& x, const Tensor& value) const {
  for (const Segment& segment : step.segments) {
    const auto rows = [&](const Tensor& t) { return slice(t, 0, segment.first_row, segment.num_rows); };
    PAGODA_RETURN_IF_ERROR(ops::dilated_conv(encoder, {.x = rows(x),
                                                       .value = rows(value),
                                                       .weight = conv_,
                                                       .dilation = hash_.ngram_size,
                                                       .tail = pool_->tail,
                                                       .sequences = segment.sequences,
                                                       .out = rows(step.hidden)}));
    PAGODA_RETURN_IF_ERROR(save(encoder, segment, pool_->tail));
  }
  return ok_status();
}

Status NgramLayer::save(device::Encoder& encoder, const Segment& segment, const Tensor& pool) {
  if (!segment.has_save) return ok_status();
  return ops::copy_slot(encoder, {.pool = pool, .from = segment.save.from, .to = segment.save.to});
}

Status NgramLayer::forward(device::Encoder& encoder, const Step& step) const {
  const int64_t all = step.hidden.shape[1], width = conv_norm_.shape[1];
  const Tensor keys = slice(step.ngram_keys, 1, 0, all), values = slice(step.ngram_keys, 1, all, width);
  const Tensor &queries = step.streams_normed, &gated = step.streams_gates, &normed = step.streams_normed;
  PAGODA_RETURN_IF_ERROR(look_up(encoder, step));
  PAGODA_RETURN_IF_ERROR(
      ops::matmul(encoder, {.x = step.ngram_rows, .weight = in_, .bias = {}, .out = step.ngram_keys}));
  PAGODA_RETURN_IF_ERROR(norm_streams(encoder, keys, {}, key_norm_, eps_, keys));
  PAGODA_RETURN_IF_ERROR(norm_streams(encoder, step.hidden, {}, query_norm_, eps_, queries));
  PAGODA_RETURN_IF_ERROR(
      ops::gate_streams(encoder, {.keys = keys, .queries = queries, .values = values, .out = gated}));
  PAGODA_RETURN_IF_ERROR(norm_streams(encoder, gated, {}, conv_norm_, eps_, normed));
  return convolve(encoder, step, normed, gated);
}

}  // namespace pagoda::model
