// MtpHead: the order of its ops. Rows of hidden states are moved by gather_rows, and written to the pool as a cache of
// halves.
#include "model/layers/mtp_head.h"

#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::Tensor;

static Layer make_layer(const io::ModelConfig& config, const Weights& weights) {
  const int index = config.num_layers;
  using AnyMlp = std::variant<Mlp, ExpertMlp>;
  Layer layer{weights.vector(index, Role::input_norm),
              weights.vector(index, Role::post_norm),
              Tensor{},
              Tensor{},
              AttentionLayer(config, weights, index),
              config.num_experts > 0 ? AnyMlp(ExpertMlp(config, weights, index)) : AnyMlp(Mlp(config, weights, index))};
  if (!config.has_streams()) return layer;
  layer.mixer_streams.emplace(config, weights, index, kMixerStreams);
  layer.mlp_streams.emplace(config, weights, index, kMlpStreams);
  return layer;
}

MtpHead::MtpHead(const io::ModelConfig& config, const Weights& weights)
    : fc_(weights.matrix(config.num_layers, Role::head_fc)),
      embedding_fc_(weights.matrix(config.num_layers, Role::head_embedding_fc)),
      embedding_norm_(weights.vector(config.num_layers, Role::head_embedding_norm)),
      hidden_norm_(weights.vector(config.num_layers, Role::head_hidden_norm)),
      final_norm_(weights.vector(config.num_layers, Role::head_norm)),
      layer_(make_layer(config, weights)),
      norm_eps_(config.rms_norm_eps),
      norm_offset_(config.zero_centered_norm ? 1.0f : 0.0f) {
  if (config.has_streams()) final_mixer_.emplace(config, weights, config.num_layers, kHeadStreams);
}

void MtpHead::set_pools(const KvPool* kv, const HiddenPool* hidden) noexcept {
  std::get<AttentionLayer>(layer_.mixer).set_pool(kv);
  hidden_ = hidden;
}

Status MtpHead::norm(device::Encoder& encoder, const Tensor& x, const Tensor& addition, const Tensor& weight,
                     const Tensor& out) const {
  return ops::rms_norm(
      encoder,
      {.x = x, .residual = addition, .weight = weight, .eps = norm_eps_, .weight_offset = norm_offset_, .out = out});
}

// The step as the head's layer sees it. Of several streams, those of the model, and the states from which it computes
// logits, are still needed after feed(): the head has its own, and its layer's input is in step.delta, which only
// cached keys and values are computed from.
Step MtpHead::own_step(const Step& step, bool is_draft) const {
  Step own = step;
  if (!final_mixer_) return own;
  own.hidden = is_draft ? step.head.output : step.head.pairs;
  if (!is_draft) own.normed = step.delta;
  return own;
}

// Where the hidden states before the rows are gathered.
const Tensor& MtpHead::states_before(const Step& step) const noexcept {
  return final_mixer_ ? step.streams_gates : step.normed;
}

// Leaves z in own.hidden, and the input of the layer's attention in own.normed.
Status MtpHead::join(device::Encoder& encoder, const Step& step, const Step& own,
                     const device::Weight* embedding) const {
  if (final_mixer_) return join_streams(encoder, step, own, embedding);
  const int64_t width = step.hidden.shape[1];
  PAGODA_RETURN_IF_ERROR(norm(encoder, step.normed, {}, hidden_norm_, slice(step.head.pairs, 1, width, width)));
  PAGODA_RETURN_IF_ERROR(embed_tokens(encoder, step, embedding, step.delta));
  PAGODA_RETURN_IF_ERROR(norm(encoder, step.delta, {}, embedding_norm_, slice(step.head.pairs, 1, 0, width)));
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.head.pairs, .weight = fc_, .bias = {}, .out = step.hidden}));
  return norm(encoder, step.hidden, {}, layer_.input_norm, step.normed);
}

Status MtpHead::join_streams(device::Encoder& encoder, const Step& step, const Step& own,
                             const device::Weight* embedding) const {
  const int64_t width = step.delta.shape[1];
  const Tensor& before = states_before(step);
  PAGODA_RETURN_IF_ERROR(norm(encoder, before, {}, hidden_norm_, before));
  for (int64_t begin = 0; begin < before.shape[1]; begin += width)
    PAGODA_RETURN_IF_ERROR(ops::matmul(
        encoder,
        {.x = slice(before, 1, begin, width), .weight = fc_, .bias = {}, .out = slice(own.hidden, 1, begin, width)}));
  const Tensor embedded = slice(step.streams_normed, 1, 0, width);
  PAGODA_RETURN_IF_ERROR(embed_tokens(encoder, step, embedding, embedded));
  PAGODA_RETURN_IF_ERROR(norm(encoder, embedded, {}, embedding_norm_, embedded));
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = embedded, .weight = embedding_fc_, .bias = {}, .out = step.delta}));
  return layer_.mixer_streams->mix(encoder, own, own.normed, step.delta);
}

Status MtpHead::feed(device::Encoder& encoder, const Step& step, const device::Weight* embedding) const {
  const HeadStep& head = step.head;
  const int64_t num_seqs = head.before.shape[0];
  PAGODA_RETURN_IF_ERROR(ops::gather_rows(
      encoder, {.x = hidden_->rows(), .rows = head.before, .out = slice(head.hidden, 0, 0, num_seqs)}));
  PAGODA_RETURN_IF_ERROR(ops::gather_rows(encoder, {.x = head.hidden, .rows = head.shift, .out = states_before(step)}));
  const Step own = own_step(step, /*is_draft=*/false);
  PAGODA_RETURN_IF_ERROR(join(encoder, step, own, embedding));
  return std::get<AttentionLayer>(layer_.mixer).write_cache(encoder, own);
}

Status MtpHead::keep_states(device::Encoder& encoder, const Step& step) const {
  const HeadStep& head = step.head;
  if (head.kept.is_present())
    PAGODA_RETURN_IF_ERROR(ops::gather_rows(encoder, {.x = head.hidden, .rows = head.kept, .out = head.tail}));
  const int64_t half = head.tail.shape[1] / 2;
  return ops::reshape_and_cache(encoder, {.k = device::split_last(slice(head.tail, 1, 0, half), 1, half),
                                          .v = device::split_last(slice(head.tail, 1, half, half), 1, half),
                                          .slot_mapping = head.kept_slots,
                                          .k_cache = hidden_->half(0),
                                          .v_cache = hidden_->half(1)});
}

Status MtpHead::draft(device::Encoder& encoder, const Step& step, const device::Weight* embedding,
                      bool is_first) const {
  const HeadStep& head = step.head;
  PAGODA_RETURN_IF_ERROR(ops::gather_rows(
      encoder, {.x = is_first ? hidden_->rows() : head.all_output, .rows = head.before, .out = states_before(step)}));
  const Step own = own_step(step, /*is_draft=*/true);
  PAGODA_RETURN_IF_ERROR(join(encoder, step, own, embedding));
  PAGODA_RETURN_IF_ERROR(std::get<AttentionLayer>(layer_.mixer).forward_from(encoder, own, /*first_position=*/1));
  if (final_mixer_) return finish_streams(encoder, own);
  PAGODA_RETURN_IF_ERROR(norm(encoder, step.hidden, step.delta, layer_.post_norm, step.normed));
  PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mlp) { return mlp.forward(encoder, step); }, layer_.mlp));
  return norm(encoder, step.hidden, step.delta, final_norm_, head.output);
}

Status MtpHead::finish_streams(device::Encoder& encoder, const Step& own) const {
  PAGODA_RETURN_IF_ERROR(layer_.mixer_streams->inject(encoder, own));
  PAGODA_RETURN_IF_ERROR(layer_.mlp_streams->mix(encoder, own, own.normed));
  PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mlp) { return mlp.forward(encoder, own); }, layer_.mlp));
  PAGODA_RETURN_IF_ERROR(layer_.mlp_streams->inject(encoder, own));
  return final_mixer_->mix(encoder, own, own.normed);
}

}  // namespace pagoda::model
