// Decoder: every family as one stack of layers. embed -> (norm, mixer, norm, MLP) per layer -> norm -> head.
// State: weights, pools and workspace, all on the device. Thread rule: the device's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/op_list.h"
#include "model/layers/layers.h"
#include "model/layers/mtp_head.h"
#include "model/model.h"
#include "model/pools.h"
#include "model/weights/weights.h"
#include "model/workspace.h"

namespace pagoda::model {

class Decoder final : public Model {
 public:
  Decoder(const io::ModelConfig& config, const cache::CacheLayout& layout, device::Device& device, Weights weights,
          AdapterLayout adapters);

  Status forward(const ForwardBatch& batch) override;
  bool launches_early() const noexcept override { return device_.info().runs_beside_host; }
  Status launch(const ForwardBatch& batch) override;
  Status finish() override;
  Status project(std::span<const int32_t> rows) override;
  Status run_layers(const ForwardBatch& batch, std::span<const float> in, std::span<float> out) override;
  Status take_states(std::span<const float> rows) override;
  bool gives_states() const noexcept override { return !config_.is_part(); }
  Status read_state(int32_t row, std::span<float> to) override;
  bool has_head() const noexcept override { return mtp_.has_value(); }
  bool samples() const noexcept override { return device_.encoder().can(device::SampleArgs{}); }
  Status draft(const ForwardBatch& batch, bool is_first) override;
  int32_t draft_vocab_size() const noexcept override { return config_.draft_vocab_size; }
  std::span<const int32_t> picked() const noexcept override { return picked_; }
  std::span<const RowScore> scores() const noexcept override { return scores_; }
  std::span<const float> logits() const noexcept override { return logits_; }
  const AdapterLayout* adapter_layout() const noexcept override {
    return config_.is_part() ? nullptr : &adapter_layout_;
  }
  Status place_adapter(int32_t slot, int64_t begin, const AdapterImage& image) override;
  ExpertStats expert_stats() const override { return device_.expert_stats(); }
  Status allocate(const EngineLimits& sizes) override;
  Status read_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) override;
  Status write_block(int32_t block, std::span<const std::byte> from) override;
  Status read_slot(int32_t slot, std::span<std::byte> to) override;
  Status write_slot(int32_t slot, std::span<const std::byte> from) override;

 private:
  Status move_units(device::Encoder& encoder, const ForwardBatch& batch) const;
  // The work of a step besides its layers and logits.
  struct Extras {
    bool feeds_head = false, skips_head_rows = false, skips_head_states = false, keeps_states = false;
  };
  Status encode(device::Encoder& encoder, const Step& step, const Extras& extras) const;
  void note_head_rows(const ForwardBatch& batch) noexcept;
  void note_head_states(const ForwardBatch& batch) noexcept;
  Status zero_fresh_slots(device::Encoder& encoder, const Step& step) const;
  Status embed(device::Encoder& encoder, const Step& step) const;
  Status add_image_features(device::Encoder& encoder, const Step& step, size_t index) const;
  Status encode_layers(device::Encoder& encoder, const Step& step) const;
  device::Tensor states_of(const Step& step, bool feeds_head) const noexcept;
  Status encode_draft(device::Encoder& encoder, const Step& step, bool is_first) const;
  static Status submit(device::Encoder& encoder, Status encoded);
  // Everything that the launches of a step depend on, if it has one row per sequence and no copies.
  struct StepShape {
    int64_t num_rows = 0;  // 0: the step cannot be repeated, because its launches depend on more
    int64_t num_logits = 0, num_picked = 0, num_draws = 0, context_class = 0;
    int32_t num_ids = 0;
    bool feeds_head = false, skips_head_rows = false, skips_head_states = false;
    bool has_adapters = false, has_scores = false;
    bool operator==(const StepShape&) const = default;
  };
  StepShape shape_of(const ForwardBatch& batch, const Step& step, int32_t num_ids) const;
  // A step between launch() and finish().
  struct Launched {
    device::Pending* pending = nullptr;  // null: there is none
    device::Tensor picked, scores, logits;
    const std::vector<Draw>* draws = nullptr;  // the draws of its batch, which the caller keeps alive
  };
  Status begin(const ForwardBatch& batch, int32_t num_ids,
               const std::function<Status(device::Encoder&, const Step&)>& encode);
  Status norm_input(device::Encoder& encoder, const Step& step, const device::Tensor& addition,
                    const device::Tensor& weight, const Layer& layer, bool reads_once) const;
  Status norm(device::Encoder& encoder, const Step& step, const device::Tensor& addition, const device::Tensor& weight,
              const device::Tensor& out, bool only_next = false) const;
  // Of models with several residual streams.
  Status encode_streams(device::Encoder& encoder, const Step& step) const;
  Status finish_states(device::Encoder& encoder, const Step& step, const device::Tensor& states) const;
  Status scale_addition(device::Encoder& encoder, const Step& step) const;
  Status norm_addition(device::Encoder& encoder, const Step& step, const device::Tensor& weight) const;
  Status pick(device::Encoder& encoder, const Step& step) const;
  Status upload_rows(const device::Tensor& rows, std::span<const float> from);
  Status download_rows(const device::Tensor& rows, std::span<float> to, bool adds);
  template <class T>
  Status fetch(const device::Tensor& from, std::vector<T>& to);
  Status publish_picked(const Launched& launched);
  Status publish_logits(const device::Tensor& logits, const std::vector<Draw>& draws);

  const io::ModelConfig config_;
  const cache::CacheLayout layout_;
  device::Device& device_;
  const Weights weights_;
  const AdapterLayout adapter_layout_;
  std::optional<AdapterPool> adapters_;  // if the limits have memory for adapters
  std::vector<Layer> layers_;
  device::Tensor final_norm_;
  std::optional<StreamMixer> final_mixer_;  // instead of the norm, if there are several residual streams
  const device::Weight* embedding_;
  const device::Weight* head_;  // the embedding itself if they are tied
  std::optional<MtpHead> mtp_;
  EngineLimits sizes_;
  Pools pools_;
  Workspace workspace_;
  std::vector<float> padded_;       // rows of a part, in transfer to or from the device
  std::vector<float> host_logits_;  // [max_logits_rows, vocab]; empty if device memory is visible to the host
  std::span<const float> logits_;   // [R, vocab] of the last step
  std::vector<int32_t> picked_;     // [R] of the last step, or none; reserved for max_logits_rows
  std::vector<RowScore> scores_;    // the same
  device::Tensor states_;           // [T, H] of the last step, after the last norm; absent unless requested
  StepShape last_shape_;            // shape of the step that begin() submitted last
  uint64_t last_step_ = 0;          // its number, if the device can repeat it
  Launched launched_;
  // As bytes: prefixes are written on a thread of their own.
  std::vector<uint8_t> lacks_head_rows_;   // [num_kv_blocks] some of its tokens were computed with skips_head_rows
  std::vector<uint8_t> lacks_head_state_;  // [num_state_slots] the last step kept none for the head
  bool is_allocated_ = false;
};

}  // namespace pagoda::model
