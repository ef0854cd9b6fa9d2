// Decoder: its memory on the device, and a step from the batch to logits on the host.
#include "model/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assign_or_return.h"
#include "model/batch_check.h"
#include "ops/ops.h"

namespace pagoda::model {

Decoder::Decoder(const io::ModelConfig& config, const cache::CacheLayout& layout, device::Device& device,
                 Weights weights, AdapterLayout adapters)
    : config_(config),
      layout_(layout),
      device_(device),
      weights_(std::move(weights)),
      adapter_layout_(std::move(adapters)),
      final_norm_(weights_.vector(kModelLevel, Role::final_norm)),
      embedding_(weights_.matrix(kModelLevel, Role::embedding)),
      head_(config.tie_word_embeddings ? embedding_ : weights_.matrix(kModelLevel, Role::lm_head)) {
  for (int i = 0; i < config.num_layers; ++i) {
    if (!config.runs_layer(i)) continue;
    const bool is_recurrent = config.layers[i] == io::LayerKind::linear_attention;
    const auto make_mixer = [&]() -> Mixer {
      if (is_recurrent && config.channel_decay) return KdaLayer(config, weights_, i);
      if (is_recurrent) return GdnLayer(config, weights_, i);
      if (config.has_latents()) return LatentAttentionLayer(config, weights_, i);
      return AttentionLayer(config, weights_, i);
    };
    using AnyMlp = std::variant<Mlp, ExpertMlp>;
    AnyMlp mlp = config.has_mixture(i) ? AnyMlp(ExpertMlp(config, weights_, i)) : AnyMlp(Mlp(config, weights_, i));
    layers_.push_back({weights_.vector(i, Role::input_norm), weights_.vector(i, Role::post_norm),
                       weights_.vector(i, Role::mixer_norm), weights_.vector(i, Role::mlp_norm), make_mixer(), mlp});
    if (!config.has_streams()) continue;
    layers_.back().mixer_streams.emplace(config, weights_, i, kMixerStreams);
    layers_.back().mlp_streams.emplace(config, weights_, i, kMlpStreams);
    if (config.ngrams.table_index(i) >= 0) layers_.back().ngrams.emplace(config, weights_, i);
  }
  if (config.has_streams()) final_mixer_.emplace(config, weights_, kModelLevel, kMixerStreams);
  if (config.runs_mtp_head) mtp_.emplace(config, weights_);
  for (size_t i = 0; i + 1 < layers_.size(); ++i) {
    auto* mlp = std::get_if<ExpertMlp>(&layers_[i].mlp);
    const auto* next = std::get_if<ExpertMlp>(&layers_[i + 1].mlp);
    if (mlp != nullptr && next != nullptr) mlp->set_next(next);
  }
}

Status Decoder::allocate(const EngineLimits& sizes) {
  const bool is_positive = sizes.num_kv_blocks > 0 && sizes.max_num_tokens > 0 && sizes.max_num_seqs > 0 &&
                           sizes.max_logits_rows > 0 && sizes.max_blocks_per_seq > 0 &&
                           (sizes.num_state_slots > 0 || !layout_.has_state());
  if (!is_positive) return make_error(StatusCode::invalid_argument, "model sizes must all be positive");
  if (is_allocated_) return make_error(StatusCode::internal, "the model's memory is allocated already");

  PAGODA_ASSIGN_OR_RETURN(auto pools, allocate_pools(layout_, sizes.num_kv_blocks, sizes.num_state_slots, device_));
  PAGODA_ASSIGN_OR_RETURN(auto workspace, Workspace::allocate(config_, sizes, device_));
  if (sizes.adapter_bytes > 0) {
    PAGODA_ASSIGN_OR_RETURN(adapters_, AdapterPool::allocate(adapter_layout_, sizes.adapter_bytes, device_));
  }
  PAGODA_RETURN_IF_ERROR(device_.reserve(Workspace::step_limits(config_, sizes)));
  if (!workspace.is_host_visible())
    host_logits_.resize(static_cast<size_t>(sizes.max_logits_rows) * static_cast<size_t>(config_.vocab_size));
  picked_.reserve(static_cast<size_t>(sizes.max_logits_rows));
  scores_.reserve(static_cast<size_t>(sizes.max_logits_rows));
  pools_ = std::move(pools);
  workspace_ = std::move(workspace);
  sizes_ = sizes;
  size_t next_kv = 0, next_state = 0, next_ngrams = 0;
  for (Layer& layer : layers_) {
    if (auto* attention = std::get_if<AttentionLayer>(&layer.mixer)) attention->set_pool(&pools_.kv[next_kv++]);
    if (auto* latent = std::get_if<LatentAttentionLayer>(&layer.mixer)) latent->set_pool(&pools_.kv[next_kv++]);
    if (auto* gdn = std::get_if<GdnLayer>(&layer.mixer)) gdn->set_pool(&pools_.state[next_state++]);
    if (auto* kda = std::get_if<KdaLayer>(&layer.mixer)) kda->set_pool(&pools_.state[next_state++]);
    if (layer.ngrams) layer.ngrams->set_pool(&pools_.ngrams[next_ngrams++]);
  }
  if (mtp_) mtp_->set_pools(&pools_.kv.back(), &pools_.hidden.front());
  if (mtp_) lacks_head_rows_.resize(static_cast<size_t>(sizes.num_kv_blocks));
  if (mtp_) lacks_head_state_.resize(static_cast<size_t>(sizes.num_state_slots));
  is_allocated_ = true;
  return ok_status();
}

// The launches of the last step may depend on which weights have adapters.
Status Decoder::place_adapter(int32_t slot, int64_t begin, const AdapterImage& image) {
  if (!adapters_) return make_error(StatusCode::unsupported, "the model has no memory for LoRA adapters");
  last_step_ = 0;
  return adapters_->place(slot, begin, image, device_);
}

Status Decoder::read_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) {
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.kv, block, to));
  const size_t row = static_cast<size_t>(kv_row_bytes(layout_.kv_dtype, layout_.head_dim));
  const size_t tokens = static_cast<size_t>(layout_.block_size);
  const size_t kept = static_cast<size_t>(std::clamp(num_tokens, 0, layout_.block_size));
  // A head's rows are contiguous (see allocate_pools), and an indexer's rows follow those of all heads.
  size_t begin = 0;
  for (const KvPool& pool : pools_.kv) {
    for (const size_t end = begin + static_cast<size_t>(layout_.head_block_bytes()); begin < end; begin += tokens * row)
      std::memset(to.data() + begin + kept * row, 0, (tokens - kept) * row);
    if (!pool.index.is_present()) continue;
    const size_t index_row = static_cast<size_t>(layout_.index_dim) * sizeof(float);
    std::memset(to.data() + begin + kept * index_row, 0, (tokens - kept) * index_row);
    begin += tokens * index_row;
  }
  const size_t head = static_cast<size_t>(layout_.head_block_bytes());
  // The rows of a paused head were never written for this sequence.
  if (layout_.num_head_layers > 0 && (!mtp_ || lacks_head_rows_[static_cast<size_t>(block)]))
    std::memset(to.data() + to.size() - head, 0, head);
  return ok_status();
}
Status Decoder::write_block(int32_t block, std::span<const std::byte> from) {
  PAGODA_RETURN_IF_ERROR(write_unit(device_, pools_.kv, block, from));
  if (mtp_) lacks_head_rows_[static_cast<size_t>(block)] = false;
  return ok_status();
}
Status Decoder::read_slot(int32_t slot, std::span<std::byte> to) {
  const size_t recurrent = static_cast<size_t>(layout_.recurrent_slot_bytes());
  const size_t ngrams = static_cast<size_t>(layout_.ngram_slot_bytes()), head = recurrent + ngrams;
  if (to.size() < head) return make_error(StatusCode::internal, "too few bytes for a block or slot");
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.state, slot, to.first(recurrent)));
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.ngrams, slot, to.subspan(recurrent, ngrams)));
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.hidden, slot, to.subspan(head)));
  const bool has_states = mtp_ && !lacks_head_state_[static_cast<size_t>(slot)];
  if (!has_states) std::memset(to.data() + head, 0, to.size() - head);
  return ok_status();
}
Status Decoder::write_slot(int32_t slot, std::span<const std::byte> from) {
  const size_t recurrent = static_cast<size_t>(layout_.recurrent_slot_bytes());
  const size_t ngrams = static_cast<size_t>(layout_.ngram_slot_bytes()), head = recurrent + ngrams;
  if (from.size() < head) return make_error(StatusCode::internal, "too few bytes for a block or slot");
  PAGODA_RETURN_IF_ERROR(write_unit(device_, pools_.state, slot, from.first(recurrent)));
  PAGODA_RETURN_IF_ERROR(write_unit(device_, pools_.ngrams, slot, from.subspan(recurrent, ngrams)));
  if (mtp_) lacks_head_state_[static_cast<size_t>(slot)] = false;
  return write_unit(device_, pools_.hidden, slot, from.subspan(head));
}

Status Decoder::forward(const ForwardBatch& batch) {
  PAGODA_RETURN_IF_ERROR(launch(batch));
  return finish();
}

// Called before rows are written: a block that receives its first token is new.
void Decoder::note_head_rows(const ForwardBatch& batch) noexcept {
  if (!mtp_) return;
  for (const Copy& copy : batch.block_copies)
    lacks_head_rows_[static_cast<size_t>(copy.to)] = lacks_head_rows_[static_cast<size_t>(copy.from)];
  for (const int64_t slot : batch.slot_mapping) {
    const auto block = static_cast<size_t>(slot / layout_.block_size);
    if (slot % layout_.block_size == 0) lacks_head_rows_[block] = false;
    if (batch.skips_head_rows) lacks_head_rows_[block] = true;
  }
  if (batch.previous_rows.empty()) note_head_states(batch);
}

// The first row after a pause is computed from a state that is not there, so its block counts as one without rows.
void Decoder::note_head_states(const ForwardBatch& batch) noexcept {
  for (const Copy& copy : batch.slot_copies)
    lacks_head_state_[static_cast<size_t>(copy.to)] = lacks_head_state_[static_cast<size_t>(copy.from)];
  for (const int32_t slot : batch.fresh_slots) lacks_head_state_[static_cast<size_t>(slot)] = false;
  for (size_t i = 0; i < batch.state_slots.size(); ++i) {
    const auto slot = static_cast<size_t>(batch.state_slots[i]), row = static_cast<size_t>(batch.cu_seqlens[i]);
    if (lacks_head_state_[slot])
      lacks_head_rows_[static_cast<size_t>(batch.slot_mapping[row] / layout_.block_size)] = true;
    lacks_head_state_[slot] = batch.skips_head_states;
  }
  for (const StateSave& save : batch.state_saves)
    lacks_head_state_[static_cast<size_t>(save.to)] = lacks_head_state_[static_cast<size_t>(save.from)];
}

Status Decoder::launch(const ForwardBatch& batch) {
  return begin(batch, config_.vocab_size, [&](device::Encoder& encoder, const Step& step) {
    const bool feeds_head = batch.feeds_head && mtp_;
    PAGODA_RETURN_IF_ERROR(move_units(encoder, batch));
    if (batch.keeps_states) states_ = states_of(step, feeds_head);
    return encode(encoder, step, {feeds_head, batch.skips_head_rows, batch.skips_head_states, batch.keeps_states});
  });
}

Status Decoder::project(std::span<const int32_t> rows) {
  logits_ = {};
  picked_.clear();
  scores_.clear();
  if (!states_.is_present()) return make_error(StatusCode::internal, "project() after a step that kept no states");
  const bool fits = !rows.empty() && rows.size() <= static_cast<size_t>(sizes_.max_logits_rows);
  if (!fits || std::ranges::any_of(rows, [&](int32_t row) { return row < 0 || row >= states_.shape[0]; }))
    return make_error(StatusCode::internal, "project() of rows that the step does not have, or of too many");
  PAGODA_ASSIGN_OR_RETURN(auto step, workspace_.begin_rows(rows, device_));
  device::Encoder& encoder = device_.encoder();
  Status encoded = ops::gather_rows(encoder, {.x = states_, .rows = step.logits_rows, .out = step.gathered});
  if (encoded.is_ok())
    encoded = ops::matmul(encoder, {.x = step.gathered, .weight = head_, .bias = {}, .out = step.logits});
  PAGODA_RETURN_IF_ERROR(submit(encoder, std::move(encoded)));
  return publish_logits(step.logits, {});
}

Status Decoder::read_state(int32_t row, std::span<float> to) {
  if (!states_.is_present() || row < 0 || row >= states_.shape[0] || to.size() != static_cast<size_t>(states_.shape[1]))
    return make_error(StatusCode::internal, "read_state() of a row that the step did not keep");
  return device_.download(device::slice(states_, 0, row, 1), to.data(), to.size_bytes());
}

Status Decoder::draft(const ForwardBatch& batch, bool is_first) {
  if (!mtp_) return make_error(StatusCode::unsupported, "the model has no MTP head, or it was not loaded");
  PAGODA_RETURN_IF_ERROR(begin(batch, config_.draft_vocab_size, [&](device::Encoder& encoder, const Step& step) {
    return encode_draft(encoder, step, is_first);
  }));
  return finish();
}

// Submits even after a failure, so that the next step starts with an empty encoder.
Status Decoder::submit(device::Encoder& encoder, Status encoded) {
  Status done = encoder.submit().wait();
  return encoded.is_ok() ? done : encoded;
}

Decoder::StepShape Decoder::shape_of(const ForwardBatch& batch, const Step& step, int32_t num_ids) const {
  const bool is_plain = batch.num_tokens() == batch.num_seqs() && batch.previous_rows.empty() && !batch.keeps_states &&
                        batch.fresh_slots.empty() && batch.state_saves.empty() && batch.block_copies.empty() &&
                        batch.slot_copies.empty() && batch.image_rows.empty() && !config_.rope.depends_on_position();
  if (!is_plain) return {};
  return {.num_rows = batch.num_tokens(),
          .num_logits = step.wants_all_rows ? -1 : step.logits_rows.shape[0],
          .num_picked = step.picked.shape[0],
          .num_draws = step.draws.shape[0],
          .context_class = device_.encoder().context_class(step.sequences.max_context),
          .num_ids = num_ids,
          .feeds_head = batch.feeds_head,
          .skips_head_rows = batch.skips_head_rows,
          .skips_head_states = batch.skips_head_states,
          .has_adapters = !batch.adapters.empty(),
          .has_scores = step.scores.is_present()};
}

// Computes logits of the first `num_ids` ids. A decode step that repeats the previous one reuses its launches:
// encoding 200 of them takes a quarter of a millisecond, during which a GPU is idle.
Status Decoder::begin(const ForwardBatch& batch, int32_t num_ids,
                      const std::function<Status(device::Encoder&, const Step&)>& encode) {
  logits_ = {};
  picked_.clear();
  scores_.clear();
  states_ = {};
  if (!is_allocated_) return make_error(StatusCode::internal, "forward() before allocate()");
  PAGODA_RETURN_IF_ERROR(check_batch(batch, config_, layout_, sizes_));
  note_head_rows(batch);
  PAGODA_ASSIGN_OR_RETURN(auto step, workspace_.begin(batch, device_));
  step.adapters = adapters_ ? &*adapters_ : nullptr;
  const device::Tensor all = step.logits;
  if (num_ids < all.shape[1])
    step.logits = device::dense(all.buffer, all.dtype, {all.shape[0], num_ids}, all.offset_bytes);
  device::Encoder& encoder = device_.encoder();
  const StepShape shape = shape_of(batch, step, num_ids);
  const bool is_repeated =
      shape.num_rows > 0 && shape == last_shape_ && last_step_ != 0 && encoder.repeatable_step() == last_step_;
  if (!is_repeated) {
    last_step_ = 0;
    last_shape_ = shape;
    if (Status encoded = encode(encoder, step); !encoded.is_ok()) return submit(encoder, std::move(encoded));
  }
  launched_ = {.pending = is_repeated ? &encoder.repeat() : &encoder.submit(),
               .picked = step.picked,
               .scores = step.scores,
               .logits = step.logits,
               .draws = &batch.draws};
  return ok_status();
}

Status Decoder::finish() {
  const Launched launched = std::exchange(launched_, {});
  if (launched.pending == nullptr) return make_error(StatusCode::internal, "finish() without launch()");
  Status done = launched.pending->wait();
  device::Encoder& encoder = device_.encoder();
  last_step_ = done.is_ok() ? encoder.repeatable_step() : 0;
  PAGODA_RETURN_IF_ERROR(std::move(done));
  if (encoder.can(device::SampleArgs{})) PAGODA_RETURN_IF_ERROR(publish_picked(launched));
  return publish_logits(launched.logits, *launched.draws);
}

template <class T>
Status Decoder::fetch(const device::Tensor& from, std::vector<T>& to) {
  if (to.empty()) return ok_status();
  if (from.buffer->host_pointer() == nullptr) return device_.download(from, to.data(), to.size() * sizeof(T));
  std::copy_n(device::host_data<const T>(from), to.size(), to.begin());
  return ok_status();
}

Status Decoder::publish_picked(const Launched& launched) {
  picked_.resize(static_cast<size_t>(launched.picked.num_elements()));
  scores_.resize(launched.scores.is_present() ? static_cast<size_t>(launched.scores.shape[0]) : 0);
  PAGODA_RETURN_IF_ERROR(fetch(launched.scores, scores_));
  return fetch(launched.picked, picked_);
}

// If the host can read device memory, no copy is needed; otherwise only the rows to be read are fetched, one run of
// consecutive rows at a time.
Status Decoder::publish_logits(const device::Tensor& logits, const std::vector<Draw>& draws) {
  const size_t count = static_cast<size_t>(logits.num_elements());
  if (logits.buffer->host_pointer() != nullptr) {
    logits_ = {device::host_data<const float>(logits), count};
    return ok_status();
  }
  const auto is_read = [&](int64_t row) {
    const size_t r = static_cast<size_t>(row);
    return picked_.empty() || draws[r].top_k == 0 || picked_[r] < 0;
  };
  const int64_t num_rows = logits.shape[0], vocab = logits.shape[1];
  for (int64_t begin = 0, end = 0; begin < num_rows; begin = end + 1) {
    for (end = begin; end < num_rows && is_read(end);) ++end;
    if (begin == end) continue;
    PAGODA_RETURN_IF_ERROR(device_.download(device::slice(logits, 0, begin, end - begin),
                                            host_logits_.data() + begin * vocab,
                                            static_cast<size_t>((end - begin) * vocab) * sizeof(float)));
  }
  logits_ = {host_logits_.data(), count};
  return ok_status();
}

}  // namespace pagoda::model
