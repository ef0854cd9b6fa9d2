// Decoder: every family as one stack of layers. embed -> (norm, mixer, norm, MLP) per layer -> norm -> head.
// State: weights, pools and workspace, all on the device. Thread rule: the device's thread.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "device/expert_ops.h"
#include "device/kda_ops.h"
#include "device/latent_ops.h"
#include "device/pick_ops.h"
#include "model/batch_check.h"
#include "model/layers.h"
#include "model/model.h"
#include "model/mtp_head.h"
#include "model/pools.h"
#include "model/weights.h"
#include "model/workspace.h"
#include "ops/argmax.h"
#include "ops/gelu.h"
#include "ops/ops.h"
#include "ops/sample.h"

namespace pagoda::model {
namespace {

class Decoder final : public Model {
 public:
  Decoder(const io::ModelConfig& config, const cache::CacheLayout& layout, device::Device& device, Weights weights);

  Status forward(const ForwardBatch& batch) override;
  Status project(std::span<const int32_t> rows) override;
  Status run_layers(const ForwardBatch& batch, std::span<const float> in, std::span<float> out) override;
  Status take_states(std::span<const float> rows) override;
  bool gives_states() const noexcept override { return !config_.is_part(); }
  Status read_state(int32_t row, std::span<float> to) override;
  bool has_head() const noexcept override { return mtp_.has_value(); }
  Status draft(const ForwardBatch& batch, bool is_first) override;
  int32_t draft_vocab_size() const noexcept override { return config_.draft_vocab_size; }
  std::span<const int32_t> picked() const noexcept override { return picked_; }
  std::span<const float> logits() const noexcept override { return logits_; }
  Status allocate(const ModelSizes& sizes) override;
  Status read_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) override;
  Status write_block(int32_t block, std::span<const std::byte> from) override;
  Status read_slot(int32_t slot, std::span<std::byte> to) override;
  Status write_slot(int32_t slot, std::span<const std::byte> from) override;

 private:
  Status move_units(device::Encoder& encoder, const ForwardBatch& batch) const;
  Status encode(device::Encoder& encoder, const Step& step, bool feeds_head, bool keeps_states) const;
  Status zero_fresh_slots(device::Encoder& encoder, const Step& step) const;
  Status embed(device::Encoder& encoder, const Step& step) const;
  Status encode_layers(device::Encoder& encoder, const Step& step) const;
  static device::Tensor states_of(const Step& step, bool feeds_head) noexcept;
  Status encode_draft(device::Encoder& encoder, const Step& step, bool is_first) const;
  Status run(const ForwardBatch& batch, int32_t num_ids,
             const std::function<Status(device::Encoder&, const Step&)>& encode);
  Status norm(device::Encoder& encoder, const Step& step, const device::Tensor& addition, const device::Tensor& weight,
              const device::Tensor& out, bool only_next = false) const;
  Status scale_addition(device::Encoder& encoder, const Step& step) const;
  Status norm_addition(device::Encoder& encoder, const Step& step, const device::Tensor& weight) const;
  Status pick(device::Encoder& encoder, const Step& step) const;
  Status upload_rows(const device::Tensor& rows, std::span<const float> from);
  Status download_rows(const device::Tensor& rows, std::span<float> to, bool adds);
  Status publish_picked(const device::Tensor& picked);
  Status publish_logits(const device::Tensor& logits, const std::vector<device::Draw>& draws);

  const io::ModelConfig config_;
  const cache::CacheLayout layout_;
  device::Device& device_;
  const Weights weights_;
  std::vector<Layer> layers_;
  device::Tensor final_norm_;
  const device::Weight* embedding_;
  const device::Weight* head_;  // the embedding itself when they are tied
  std::optional<MtpHead> mtp_;
  ModelSizes sizes_;
  Pools pools_;
  Workspace workspace_;
  std::vector<float> padded_;       // rows of a part on their way to or from the device
  std::vector<float> host_logits_;  // [max_logits_rows, vocab]; empty where the host sees device memory
  std::span<const float> logits_;   // [R, vocab] of the last step
  std::vector<int32_t> picked_;     // [R] of the last step, or none; reserved for max_logits_rows
  device::Tensor states_;           // [T, H] of the last step, behind the last norm; absent unless they were to be kept
  bool is_allocated_ = false;
};

Decoder::Decoder(const io::ModelConfig& config, const cache::CacheLayout& layout, device::Device& device,
                 Weights weights)
    : config_(config),
      layout_(layout),
      device_(device),
      weights_(std::move(weights)),
      final_norm_(weights_.vector(kModelLevel, Role::final_norm)),
      embedding_(weights_.matrix(kModelLevel, Role::embedding)),
      head_(config.tie_word_embeddings ? embedding_ : weights_.matrix(kModelLevel, Role::lm_head)) {
  for (int i = 0; i < config.num_layers; ++i) {
    if (!config.runs_layer(i)) continue;
    const bool is_recurrent = config.layers[static_cast<size_t>(i)] == io::LayerKind::linear_attention;
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
  }
  if (config.runs_mtp_head) mtp_.emplace(config, weights_);
}

Status Decoder::allocate(const ModelSizes& sizes) {
  const bool is_positive = sizes.num_kv_blocks > 0 && sizes.max_num_tokens > 0 && sizes.max_num_seqs > 0 &&
                           sizes.max_logits_rows > 0 && sizes.max_blocks_per_seq > 0 &&
                           (sizes.num_state_slots > 0 || !layout_.has_state());
  if (!is_positive) return make_error(StatusCode::invalid_argument, "model sizes must all be positive");
  if (is_allocated_) return make_error(StatusCode::internal, "the model's memory is allocated already");

  auto pools = allocate_pools(layout_, sizes.num_kv_blocks, sizes.num_state_slots, device_);
  if (!pools.is_ok()) return pools.status;
  auto workspace = Workspace::allocate(config_, sizes, device_);
  if (!workspace.is_ok()) return workspace.status;
  PAGODA_RETURN_IF_ERROR(device_.reserve(Workspace::step_limits(config_, sizes)));
  if (!workspace->is_host_visible())
    host_logits_.resize(static_cast<size_t>(sizes.max_logits_rows) * static_cast<size_t>(config_.vocab_size));
  picked_.reserve(static_cast<size_t>(sizes.max_logits_rows));
  pools_ = std::move(*pools);
  workspace_ = std::move(*workspace);
  sizes_ = sizes;
  size_t next_kv = 0, next_state = 0;
  for (Layer& layer : layers_) {
    if (auto* attention = std::get_if<AttentionLayer>(&layer.mixer)) attention->set_pool(&pools_.kv[next_kv++]);
    if (auto* latent = std::get_if<LatentAttentionLayer>(&layer.mixer)) latent->set_pool(&pools_.kv[next_kv++]);
    if (auto* gdn = std::get_if<GdnLayer>(&layer.mixer)) gdn->set_pool(&pools_.state[next_state++]);
    if (auto* kda = std::get_if<KdaLayer>(&layer.mixer)) kda->set_pool(&pools_.state[next_state++]);
  }
  if (mtp_) mtp_->set_pools(&pools_.kv.back(), &pools_.hidden.front());
  is_allocated_ = true;
  return ok_status();
}

Status Decoder::read_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) {
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.kv, block, to));
  const size_t row = static_cast<size_t>(kv_row_bytes(layout_.kv_dtype, layout_.head_dim));
  const size_t head =
      row * static_cast<size_t>(layout_.block_size);  // a head's rows lie end to end: see allocate_pools
  const size_t kept = row * static_cast<size_t>(std::clamp(num_tokens, 0, layout_.block_size));
  for (size_t begin = 0; begin < to.size(); begin += head) std::memset(to.data() + begin + kept, 0, head - kept);
  // The rows of a head that does not run were never written for this sequence.
  const size_t per_layer = to.size() / std::max<size_t>(pools_.kv.size(), 1);
  if (layout_.num_head_layers > 0 && !mtp_) std::memset(to.data() + to.size() - per_layer, 0, per_layer);
  return ok_status();
}
Status Decoder::write_block(int32_t block, std::span<const std::byte> from) {
  return write_unit(device_, pools_.kv, block, from);
}
Status Decoder::read_slot(int32_t slot, std::span<std::byte> to) {
  const size_t recurrent = static_cast<size_t>(layout_.recurrent_slot_bytes());
  if (to.size() < recurrent) return make_error(StatusCode::internal, "too few bytes for a block or slot");
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.state, slot, to.first(recurrent)));
  PAGODA_RETURN_IF_ERROR(read_unit(device_, pools_.hidden, slot, to.subspan(recurrent)));
  if (!mtp_) std::memset(to.data() + recurrent, 0, to.size() - recurrent);
  return ok_status();
}
Status Decoder::write_slot(int32_t slot, std::span<const std::byte> from) {
  const size_t recurrent = static_cast<size_t>(layout_.recurrent_slot_bytes());
  if (from.size() < recurrent) return make_error(StatusCode::internal, "too few bytes for a block or slot");
  PAGODA_RETURN_IF_ERROR(write_unit(device_, pools_.state, slot, from.first(recurrent)));
  return write_unit(device_, pools_.hidden, slot, from.subspan(recurrent));
}

Status Decoder::forward(const ForwardBatch& batch) {
  return run(batch, config_.vocab_size, [&](device::Encoder& encoder, const Step& step) {
    const bool feeds_head = batch.feeds_head && mtp_;
    PAGODA_RETURN_IF_ERROR(move_units(encoder, batch));
    if (batch.keeps_states) states_ = states_of(step, feeds_head);
    return encode(encoder, step, feeds_head, batch.keeps_states);
  });
}

Status Decoder::project(std::span<const int32_t> rows) {
  logits_ = {};
  picked_.clear();
  if (!states_.is_present()) return make_error(StatusCode::internal, "project() after a step that kept no states");
  const bool fits = !rows.empty() && rows.size() <= static_cast<size_t>(sizes_.max_logits_rows);
  if (!fits || std::ranges::any_of(rows, [&](int32_t row) { return row < 0 || row >= states_.shape[0]; }))
    return make_error(StatusCode::internal, "project() of rows that the step does not have, or of too many");
  auto step = workspace_.begin_rows(rows, device_);
  if (!step.is_ok()) return step.status;
  device::Encoder& encoder = device_.encoder();
  Status encoded = ops::gather_rows(encoder, {.x = states_, .rows = step->logits_rows, .out = step->gathered});
  if (encoded.is_ok())
    encoded = ops::matmul(encoder, {.x = step->gathered, .weight = head_, .bias = {}, .out = step->logits});
  Status done = encoder.submit().wait();
  if (!encoded.is_ok()) return encoded;
  if (!done.is_ok()) return done;
  return publish_logits(step->logits, {});
}

// The sum that the norm of the next layer would begin with is made here: one row travels instead of two.
Status Decoder::run_layers(const ForwardBatch& batch, std::span<const float> in, std::span<float> out) {
  logits_ = {};
  picked_.clear();
  states_ = {};
  const size_t count = static_cast<size_t>(batch.num_tokens()) * static_cast<size_t>(config_.hidden_size);
  if (!is_allocated_ || !config_.is_part() || out.size() != count || in.size() != (config_.has_ends() ? 0 : count))
    return make_error(StatusCode::internal, "run_layers() of a model that is no part, or with too few or many rows");
  PAGODA_RETURN_IF_ERROR(check_batch(batch, config_, layout_, sizes_));
  auto step = workspace_.begin(batch, device_);
  if (!step.is_ok()) return step.status;
  if (!in.empty()) PAGODA_RETURN_IF_ERROR(upload_rows(step->hidden, in));
  device::Encoder& encoder = device_.encoder();
  Status encoded = move_units(encoder, batch);
  if (encoded.is_ok()) encoded = zero_fresh_slots(encoder, *step);
  if (encoded.is_ok() && in.empty()) encoded = embed(encoder, *step);
  if (encoded.is_ok()) encoded = encode_layers(encoder, *step);
  Status done = encoder.submit().wait();
  if (!encoded.is_ok()) return encoded;
  if (!done.is_ok()) return done;
  PAGODA_RETURN_IF_ERROR(download_rows(step->hidden, out, /*adds=*/false));
  return download_rows(step->delta, out, /*adds=*/true);
}

// Rows on the device have gaps between them where their width is odd; those of other machines have none.
static device::Tensor with_gaps(const device::Tensor& rows) noexcept {
  return device::dense(rows.buffer, rows.dtype, {rows.shape[0], rows.strides[0]}, rows.offset_bytes);
}

Status Decoder::upload_rows(const device::Tensor& rows, std::span<const float> from) {
  const size_t width = static_cast<size_t>(rows.shape[1]), stride = static_cast<size_t>(rows.strides[0]);
  const size_t num_rows = static_cast<size_t>(rows.shape[0]);
  padded_.assign(num_rows * stride, 0.0f);
  for (size_t r = 0; r < num_rows; ++r) std::copy_n(from.data() + r * width, width, padded_.data() + r * stride);
  return device_.upload(with_gaps(rows), padded_.data(), padded_.size() * sizeof(float));
}

Status Decoder::download_rows(const device::Tensor& rows, std::span<float> to, bool adds) {
  const size_t width = static_cast<size_t>(rows.shape[1]), stride = static_cast<size_t>(rows.strides[0]);
  const size_t num_rows = static_cast<size_t>(rows.shape[0]);
  padded_.resize(num_rows * stride);
  PAGODA_RETURN_IF_ERROR(device_.download(with_gaps(rows), padded_.data(), padded_.size() * sizeof(float)));
  for (size_t r = 0; r < num_rows; ++r)
    for (size_t i = 0; i < width; ++i) {
      const float value = padded_[r * stride + i];
      to[r * width + i] = adds ? to[r * width + i] + value : value;
    }
  return ok_status();
}

Status Decoder::take_states(std::span<const float> rows) {
  logits_ = {};
  picked_.clear();
  states_ = {};
  const int64_t hidden = config_.hidden_size, count = static_cast<int64_t>(rows.size()) / hidden;
  if (!is_allocated_ || !config_.has_ends() || count < 1 || count > sizes_.max_num_tokens)
    return make_error(StatusCode::internal, "take_states() of no rows, or of too many");
  Step step = workspace_.largest();
  for (device::Tensor* t : {&step.hidden, &step.normed}) *t = device::slice(*t, 0, 0, count);
  PAGODA_RETURN_IF_ERROR(upload_rows(step.hidden, rows));
  device::Encoder& encoder = device_.encoder();
  const Status encoded = norm(encoder, step, {}, final_norm_, step.normed);
  Status done = encoder.submit().wait();
  if (!encoded.is_ok()) return encoded;
  if (!done.is_ok()) return done;
  states_ = step.normed;
  return ok_status();
}

Status Decoder::read_state(int32_t row, std::span<float> to) {
  if (!states_.is_present() || row < 0 || row >= states_.shape[0] || to.size() != static_cast<size_t>(states_.shape[1]))
    return make_error(StatusCode::internal, "read_state() of a row that the step did not keep");
  return device_.download(device::slice(states_, 0, row, 1), to.data(), to.size_bytes());
}

Status Decoder::draft(const ForwardBatch& batch, bool is_first) {
  if (!mtp_) return make_error(StatusCode::unsupported, "the model has no MTP head, or it was not loaded");
  return run(batch, config_.draft_vocab_size,
             [&](device::Encoder& encoder, const Step& step) { return encode_draft(encoder, step, is_first); });
}

// Logits are those of the first `num_ids` tokens.
Status Decoder::run(const ForwardBatch& batch, int32_t num_ids,
                    const std::function<Status(device::Encoder&, const Step&)>& encode) {
  logits_ = {};
  picked_.clear();
  states_ = {};
  if (!is_allocated_) return make_error(StatusCode::internal, "forward() before allocate()");
  PAGODA_RETURN_IF_ERROR(check_batch(batch, config_, layout_, sizes_));
  auto step = workspace_.begin(batch, device_);
  if (!step.is_ok()) return step.status;
  const device::Tensor all = step->logits;
  if (num_ids < all.shape[1])
    step->logits = device::dense(all.buffer, all.dtype, {all.shape[0], num_ids}, all.offset_bytes);
  device::Encoder& encoder = device_.encoder();
  const Status encoded = encode(encoder, *step);
  Status done = encoder.submit().wait();  // also after a failure, so that the next step begins with an empty encoder
  if (!encoded.is_ok()) return encoded;
  if (!done.is_ok()) return done;
  if (encoder.can(device::Op::sample)) PAGODA_RETURN_IF_ERROR(publish_picked(step->picked));
  return publish_logits(step->logits, batch.draws);
}

Status Decoder::move_units(device::Encoder& encoder, const ForwardBatch& batch) const {
  for (const Copy& copy : batch.block_copies)
    for (const KvPool& pool : pools_.kv) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  for (const Copy& copy : batch.slot_copies)
    for (const StatePool& pool : pools_.state) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  for (const Copy& copy : batch.slot_copies)
    for (const HiddenPool& pool : pools_.hidden) PAGODA_RETURN_IF_ERROR(copy_unit(encoder, pool, copy));
  return ok_status();
}

// Where a step has the states that the logits are made from; nothing that follows in the step writes there.
device::Tensor Decoder::states_of(const Step& step, bool feeds_head) noexcept {
  const int64_t num_tokens = step.normed.shape[0];
  if (!feeds_head) return step.normed;
  return device::slice(step.head.hidden, 0, step.head.hidden.shape[0] - num_tokens, num_tokens);
}

Status Decoder::encode(device::Encoder& encoder, const Step& step, bool feeds_head, bool keeps_states) const {
  PAGODA_RETURN_IF_ERROR(zero_fresh_slots(encoder, step));
  PAGODA_RETURN_IF_ERROR(embed(encoder, step));
  PAGODA_RETURN_IF_ERROR(encode_layers(encoder, step));
  if (step.logits_rows.num_elements() == 0 && !feeds_head && !keeps_states) return ok_status();
  const device::Tensor states = states_of(step, feeds_head);
  PAGODA_RETURN_IF_ERROR(norm(encoder, step, step.delta, final_norm_, states));
  if (step.logits_rows.num_elements() > 0) {
    if (!step.wants_all_rows)
      PAGODA_RETURN_IF_ERROR(ops::gather_rows(encoder, {.x = states, .rows = step.logits_rows, .out = step.gathered}));
    PAGODA_RETURN_IF_ERROR(ops::matmul(
        encoder, {.x = step.wants_all_rows ? states : step.gathered, .weight = head_, .bias = {}, .out = step.logits}));
    PAGODA_RETURN_IF_ERROR(pick(encoder, step));
  }
  return feeds_head ? mtp_->feed(encoder, step, embedding_) : ok_status();
}

Status Decoder::zero_fresh_slots(device::Encoder& encoder, const Step& step) const {
  if (step.fresh_slots.num_elements() == 0) return ok_status();
  for (const HiddenPool& pool : pools_.hidden)
    PAGODA_RETURN_IF_ERROR(ops::zero_slots(encoder, {.pool = pool.states, .slots = step.fresh_slots}));
  for (const Layer& layer : layers_) {
    if (const auto* gdn = std::get_if<GdnLayer>(&layer.mixer))
      PAGODA_RETURN_IF_ERROR(gdn->zero_fresh_slots(encoder, step));
    if (const auto* kda = std::get_if<KdaLayer>(&layer.mixer))
      PAGODA_RETURN_IF_ERROR(kda->zero_fresh_slots(encoder, step));
  }
  return ok_status();
}

Status Decoder::embed(device::Encoder& encoder, const Step& step) const {
  PAGODA_RETURN_IF_ERROR(ops::embedding(encoder, {.ids = step.token_ids, .table = embedding_, .out = step.hidden}));
  if (config_.embedding_scale == 1.0f) return ok_status();
  return ops::scale_rows(encoder, {.x = step.hidden, .factor = config_.embedding_scale});
}

// What the last layer adds is left in step.delta.
Status Decoder::encode_layers(device::Encoder& encoder, const Step& step) const {
  device::Tensor addition;  // absent before the first layer
  for (const Layer& layer : layers_) {
    PAGODA_RETURN_IF_ERROR(norm(encoder, step, addition, layer.input_norm, step.normed, reads_once(layer.mixer)));
    PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mixer) { return mixer.forward(encoder, step); }, layer.mixer));
    PAGODA_RETURN_IF_ERROR(scale_addition(encoder, step));
    PAGODA_RETURN_IF_ERROR(norm_addition(encoder, step, layer.mixer_norm));
    PAGODA_RETURN_IF_ERROR(norm(encoder, step, step.delta, layer.post_norm, step.normed, reads_once(layer.mlp)));
    PAGODA_RETURN_IF_ERROR(std::visit([&](const auto& mlp) { return mlp.forward(encoder, step); }, layer.mlp));
    PAGODA_RETURN_IF_ERROR(scale_addition(encoder, step));
    PAGODA_RETURN_IF_ERROR(norm_addition(encoder, step, layer.mlp_norm));
    addition = step.delta;
  }
  return ok_status();
}

Status Decoder::encode_draft(device::Encoder& encoder, const Step& step, bool is_first) const {
  PAGODA_RETURN_IF_ERROR(mtp_->draft(encoder, step, embedding_, is_first));
  PAGODA_RETURN_IF_ERROR(ops::matmul(
      encoder, {.x = step.head.output, .weight = head_, .bias = {}, .out = step.logits, .takes_first_rows = true}));
  return pick(encoder, step);
}

// Where the device can. The highest is a draw too, but sooner found by itself.
Status Decoder::pick(device::Encoder& encoder, const Step& step) const {
  if (step.picked.num_elements() == 0 || !encoder.can(device::Op::sample)) return ok_status();
  if (step.draws.num_elements() == 0) return ops::argmax(encoder, {.logits = step.logits, .tokens = step.picked});
  return ops::sample(encoder, {.logits = step.logits, .draws = step.draws, .tokens = step.picked});
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

// The output of a mixer or the MLP is normalised before it is added, where a family has a norm for it.
Status Decoder::norm_addition(device::Encoder& encoder, const Step& step, const device::Tensor& weight) const {
  if (!weight.is_present()) return ok_status();
  return ops::rms_norm(encoder, {.x = step.delta,
                                 .residual = {},
                                 .weight = weight,
                                 .eps = config_.rms_norm_eps,
                                 .weight_offset = config_.zero_centered_norm ? 1.0f : 0.0f,
                                 .out = step.delta});
}

Status Decoder::publish_picked(const device::Tensor& picked) {
  picked_.resize(static_cast<size_t>(picked.num_elements()));
  return device_.download(picked, picked_.data(), picked_.size() * sizeof(int32_t));
}

// Where the host sees device memory all rows are there; else those are fetched that somebody will look at, a run of
// them at a time.
Status Decoder::publish_logits(const device::Tensor& logits, const std::vector<device::Draw>& draws) {
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

}  // namespace

int64_t workspace_bytes(const io::ModelConfig& config, const device::Device& device, const ModelSizes& sizes) noexcept {
  return Workspace::size_bytes(config, sizes) +
         static_cast<int64_t>(device.reserve_bytes(Workspace::step_limits(config, sizes)));
}

Result<std::unique_ptr<Model>> load_model(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                          device::Device& device, WeightFormat format, DType kv_dtype,
                                          int32_t block_size, const std::function<bool(double)>& progress,
                                          WeightCache* cache) {
  if (block_size <= 0) return make_error(StatusCode::invalid_argument, "block_size must be positive");
  const device::Encoder& encoder = device.encoder();
  const auto refuse = [&](const char* what) {
    return make_error(StatusCode::unsupported, config.architecture + " has " + what + ", which the device " +
                                                   device.info().name + " cannot run; cpu can");
  };
  if (config.num_experts > 0 && !encoder.can(device::Op::expert_matmul)) return refuse("a mixture of experts");
  const bool has_scales = config.embedding_scale != 1.0f || config.residual_scale != 1.0f;
  if (config.gelu && !encoder.can(device::Op::gelu_mul)) return refuse("a GELU");
  if (!encoder.can(device::Op::scale_rows)) {
    if (has_scales) return refuse("scaled residuals");
    if (config.has_latents() && config.rope.attention_factor != 1.0) return refuse("a scaled rotation");
  }
  if (config.has_latents() && !(encoder.can(device::Op::latent_attention) && encoder.can(device::Op::expert_matmul)))
    return refuse("latent attention (MLA)");
  if (config.channel_decay && !encoder.can(device::Op::kda)) return refuse("a decay by channel (KDA)");
  auto weights = Weights::load(config, checkpoint, device, format, progress, cache);
  if (!weights.is_ok()) return weights.status;
  return std::unique_ptr<Model>(
      std::make_unique<Decoder>(config, cache_layout(config, kv_dtype, block_size), device, std::move(*weights)));
}

}  // namespace pagoda::model
