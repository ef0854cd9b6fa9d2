// Decoder: the ops of a step, in order.
#include "model/decoder.h"
#include "ops/ops.h"

namespace pagoda::model {

Status Decoder::move_units(device::Encoder& encoder, const ForwardBatch& batch) const {
  for (const Copy& copy : batch.block_copies)
    for (const KvPool& pool : pools_.kv) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  for (const Copy& copy : batch.slot_copies)
    for (const StatePool& pool : pools_.state) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  for (const Copy& copy : batch.slot_copies)
    for (const NgramPool& pool : pools_.ngrams) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  for (const Copy& copy : batch.slot_copies)
    for (const HiddenPool& pool : pools_.hidden) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  return ok_status();
}

// The states from which a step computes logits; no later op in the step overwrites them. A head reads them too, or all
// residual streams if there are several.
device::Tensor Decoder::states_of(const Step& step, bool feeds_head) const noexcept {
  const int64_t num_tokens = step.normed.shape[0];
  if (!feeds_head || final_mixer_) return step.normed;
  return device::slice(step.head.hidden, 0, step.head.hidden.shape[0] - num_tokens, num_tokens);
}

Status Decoder::encode(device::Encoder& encoder, const Step& step, const Extras& extras) const {
  PAGODA_RETURN_IF_ERROR(zero_fresh_slots(encoder, step));
  PAGODA_RETURN_IF_ERROR(embed(encoder, step));
  PAGODA_RETURN_IF_ERROR(final_mixer_ ? encode_streams(encoder, step) : encode_layers(encoder, step));
  if (step.logits_rows.num_elements() == 0 && !extras.feeds_head && !extras.keeps_states) return ok_status();
  const device::Tensor states = states_of(step, extras.feeds_head);
  PAGODA_RETURN_IF_ERROR(finish_states(encoder, step, states));
  if (step.logits_rows.num_elements() > 0) {
    if (!step.wants_all_rows)
      PAGODA_RETURN_IF_ERROR(ops::gather_rows(encoder, {.x = states, .rows = step.logits_rows, .out = step.gathered}));
    PAGODA_RETURN_IF_ERROR(ops::matmul(
        encoder, {.x = step.wants_all_rows ? states : step.gathered, .weight = head_, .bias = {}, .out = step.logits}));
    PAGODA_RETURN_IF_ERROR(pick(encoder, step));
  }
  if (!extras.feeds_head) return ok_status();
  if (extras.skips_head_states) return ok_status();
  if (!extras.skips_head_rows) PAGODA_RETURN_IF_ERROR(mtp_->feed(encoder, step, embedding_));
  return mtp_->keep_states(encoder, step);
}

Status Decoder::zero_fresh_slots(device::Encoder& encoder, const Step& step) const {
  if (step.fresh_slots.num_elements() == 0) return ok_status();
  for (const HiddenPool& pool : pools_.hidden)
    PAGODA_RETURN_IF_ERROR(ops::zero_slots(encoder, {.pool = pool.states, .slots = step.fresh_slots}));
  for (const Layer& layer : layers_) {
    if (layer.ngrams) PAGODA_RETURN_IF_ERROR(layer.ngrams->zero_fresh_slots(encoder, step));
    if (const auto* gdn = std::get_if<GdnLayer>(&layer.mixer))
      PAGODA_RETURN_IF_ERROR(gdn->zero_fresh_slots(encoder, step));
    if (const auto* kda = std::get_if<KdaLayer>(&layer.mixer))
      PAGODA_RETURN_IF_ERROR(kda->zero_fresh_slots(encoder, step));
  }
  return ok_status();
}

Status Decoder::embed(device::Encoder& encoder, const Step& step) const {
  for (int64_t stream = 0; final_mixer_ && stream < config_.num_streams; ++stream)
    PAGODA_RETURN_IF_ERROR(embed_tokens(
        encoder, step, embedding_, device::slice(step.hidden, 1, stream * config_.hidden_size, config_.hidden_size)));
  if (final_mixer_) return ok_status();
  PAGODA_RETURN_IF_ERROR(embed_tokens(encoder, step, embedding_, step.hidden));
  if (config_.embedding_scale == 1.0f) return ok_status();
  return ops::scale_rows(encoder, {.x = step.hidden, .factor = config_.embedding_scale});
}

// The last layer's output stays in step.delta.
Status Decoder::encode_layers(device::Encoder& encoder, const Step& step) const {
  device::Tensor addition;  // absent before the first layer
  Step raw = step;          // for layers that do not normalise their inputs
  raw.normed = step.hidden;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    if (i > 0) PAGODA_RETURN_IF_ERROR(add_image_features(encoder, step, i - 1));
    const Step& input = layer.input_norm.is_present() ? step : raw;
    PAGODA_RETURN_IF_ERROR(norm_input(encoder, step, addition, layer.input_norm, layer, reads_once(layer.mixer)));
    PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mixer) { return mixer.forward(encoder, input); }, layer.mixer));
    PAGODA_RETURN_IF_ERROR(scale_addition(encoder, step));
    PAGODA_RETURN_IF_ERROR(norm_addition(encoder, step, layer.mixer_norm));
    PAGODA_RETURN_IF_ERROR(norm_input(encoder, step, step.delta, layer.post_norm, layer, reads_once(layer.mlp)));
    PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mlp) { return mlp.forward(encoder, input); }, layer.mlp));
    PAGODA_RETURN_IF_ERROR(scale_addition(encoder, step));
    PAGODA_RETURN_IF_ERROR(norm_addition(encoder, step, layer.mlp_norm));
    addition = step.delta;
  }
  return add_image_features(encoder, step, layers_.size() - 1);
}

// A mixer's input is a gated mean of the normalised streams, and its output is added to each with a weight.
Status Decoder::encode_streams(device::Encoder& encoder, const Step& step) const {
  for (const Layer& layer : layers_) {
    if (layer.ngrams) PAGODA_RETURN_IF_ERROR(layer.ngrams->forward(encoder, step));
    PAGODA_RETURN_IF_ERROR(layer.mixer_streams->mix(encoder, step, step.normed));
    PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mixer) { return mixer.forward(encoder, step); }, layer.mixer));
    PAGODA_RETURN_IF_ERROR(layer.mixer_streams->inject(encoder, step));
    PAGODA_RETURN_IF_ERROR(layer.mlp_streams->mix(encoder, step, step.normed));
    PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mlp) { return mlp.forward(encoder, step); }, layer.mlp));
    PAGODA_RETURN_IF_ERROR(layer.mlp_streams->inject(encoder, step));
  }
  return ok_status();
}

Status Decoder::finish_states(device::Encoder& encoder, const Step& step, const device::Tensor& states) const {
  if (final_mixer_) return final_mixer_->mix(encoder, step, states);
  return norm(encoder, step, step.delta, final_norm_, states);
}

// Adds to the residual stream, and normalises it if the layer does. If it does not, the norm of the sum is not read: an
// op for the sum alone would be one more on every device.
Status Decoder::norm_input(device::Encoder& encoder, const Step& step, const device::Tensor& addition,
                           const device::Tensor& weight, const Layer& layer, bool reads_once) const {
  if (weight.is_present())
    return norm(encoder, step, addition, weight, step.normed, reads_once && !step.adapter_slots.is_present());
  return addition.is_present() ? norm(encoder, step, addition, layer.mixer_norm, step.normed) : ok_status();
}

// DeepStack: adds feature `index` of image tokens to their hidden states. The sum of rms_norm is needed here, and its
// norm is overwritten: an op for the sum alone would be one more on every device.
Status Decoder::add_image_features(device::Encoder& encoder, const Step& step, size_t index) const {
  if (index >= config_.vision.deep_blocks.size()) return ok_status();
  const int64_t width = config_.hidden_size;
  const device::Tensor features =
      device::slice(step.image_embeddings, 1, (static_cast<int64_t>(index) + 1) * width, width);
  int64_t done = 0;
  for (const ImageRows& image : step.image_rows) {
    const auto rows = [&](const device::Tensor& all) { return device::slice(all, 0, image.first_row, image.num_rows); };
    PAGODA_RETURN_IF_ERROR(ops::rms_norm(encoder, {.x = rows(step.hidden),
                                                   .residual = device::slice(features, 0, done, image.num_rows),
                                                   .weight = layers_[index].input_norm,
                                                   .eps = config_.rms_norm_eps,
                                                   .weight_offset = 0.0f,
                                                   .out = rows(step.normed)}));
    done += image.num_rows;
  }
  return ok_status();
}

Status Decoder::encode_draft(device::Encoder& encoder, const Step& step, bool is_first) const {
  PAGODA_RETURN_IF_ERROR(mtp_->draft(encoder, step, embedding_, is_first));
  PAGODA_RETURN_IF_ERROR(ops::matmul(
      encoder, {.x = mtp_->result(step), .weight = head_, .bias = {}, .out = step.logits, .takes_first_rows = true}));
  return pick(encoder, step);
}

// Samples tokens if the device can. The argmax is a draw too, but has a faster op of its own.
Status Decoder::pick(device::Encoder& encoder, const Step& step) const {
  if (step.picked.num_elements() == 0 || !encoder.can(device::SampleArgs{})) return ok_status();
  if (step.draws.num_elements() == 0) return ops::argmax(encoder, {.logits = step.logits, .tokens = step.picked});
  return ops::sample(encoder, {.logits = step.logits,
                               .draws = step.draws,
                               .edits = step.edits,
                               .masks = step.masks,
                               .tokens = step.picked,
                               .scores = step.scores});
}

// hidden += addition; normed = RMS norm of hidden.
Status Decoder::norm(device::Encoder& encoder, const Step& step, const device::Tensor& addition,
                     const device::Tensor& weight, const device::Tensor& out, bool only_next) const {
  return ops::rms_norm(encoder, {.x = step.hidden,
                                 .residual = addition,
                                 .weight = weight,
                                 .eps = config_.rms_norm_eps,
                                 .weight_offset = config_.zero_centered_norm ? 1.0f : 0.0f,
                                 .out = out,
                                 .only_next = only_next});
}

Status Decoder::scale_addition(device::Encoder& encoder, const Step& step) const {
  if (config_.residual_scale == 1.0f) return ok_status();
  return ops::scale_rows(encoder, {.x = step.delta, .factor = config_.residual_scale});
}

// In some families the output of a mixer or the MLP is normalised before it is added.
Status Decoder::norm_addition(device::Encoder& encoder, const Step& step, const device::Tensor& weight) const {
  if (!weight.is_present()) return ok_status();
  return ops::rms_norm(encoder, {.x = step.delta,
                                 .residual = {},
                                 .weight = weight,
                                 .eps = config_.rms_norm_eps,
                                 .weight_offset = config_.zero_centered_norm ? 1.0f : 0.0f,
                                 .out = step.delta});
}

}  // namespace pagoda::model
