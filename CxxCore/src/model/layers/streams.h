// Hyper-connections: several residual streams instead of one, side by side in step.hidden, [T, streams * H]; and
// n-gram embeddings, which are added to them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "io/config/model_config.h"
#include "model/pools.h"
#include "model/weights/weights.h"
#include "model/workspace.h"

namespace pagoda::model {

struct StreamRoles {
  Role norm, down, up;
};
constexpr StreamRoles kMixerStreams{Role::mixer_streams_norm, Role::mixer_streams_down, Role::mixer_streams_up};
constexpr StreamRoles kHeadStreams{Role::head_streams_norm, Role::head_streams_down, Role::head_streams_up};
constexpr StreamRoles kMlpStreams{Role::mlp_streams_norm, Role::mlp_streams_down, Role::mlp_streams_up};

// Normalises each stream by itself, after `addition` [T, H], if there is one, was added to it; weight: f32 [streams,
// H], without the 1 that is added to it.
Status norm_streams(device::Encoder& encoder, const device::Tensor& streams, const device::Tensor& addition,
                    const device::Tensor& weight, float eps, const device::Tensor& out);

// The connections of one mixer or MLP:
//   n = norm(streams);  out = mean of sigmoid(up silu(down n / S)) n;  streams += 2 sigmoid(inject n / S) delta
class StreamMixer {
 public:
  StreamMixer(const io::ModelConfig& config, const Weights& weights, int layer_index, const StreamRoles& roles);
  // Adds `addition` [T, H], if there is one, to all streams first; it may be `out`, [T, H].
  Status mix(device::Encoder& encoder, const Step& step, const device::Tensor& out,
             const device::Tensor& addition = {}) const;
  // Adds step.delta, with the weights that mix() left in step.streams_weights.
  Status inject(device::Encoder& encoder, const Step& step) const;

 private:
  const device::Weight* down_;  // [rank | streams, streams * H]; before the head only the rank
  const device::Weight* up_;    // [streams * H, rank]
  device::Tensor norm_;         // f32 [streams, H]
  int64_t num_streams_, rank_;
  float eps_;
};

// Adds to each stream what the table has for the n-grams that end in a token, gated by the stream, and a convolution of
// that over time.
class NgramLayer {
 public:
  NgramLayer(const io::ModelConfig& config, const Weights& weights, int layer_index);
  void set_pool(const NgramPool* pool) noexcept { pool_ = pool; }
  Status zero_fresh_slots(device::Encoder& encoder, const Step& step) const;
  Status forward(device::Encoder& encoder, const Step& step) const;

 private:
  Status look_up(device::Encoder& encoder, const Step& step) const;  // leaves the embeddings in step.ngram_rows
  Status convolve(device::Encoder& encoder, const Step& step, const device::Tensor& x,
                  const device::Tensor& value) const;
  static Status save(device::Encoder& encoder, const Segment& segment, const device::Tensor& pool);

  NgramHash hash_;
  const device::RowTable* table_;
  const device::Weight* in_;                          // [keys of all streams | value, dims of an embedding]
  device::Tensor key_norm_, query_norm_, conv_norm_;  // f32 [streams, H]
  device::Tensor conv_;                               // f32 [kernel, streams * H]
  float eps_;
  const NgramPool* pool_ = nullptr;
};

}  // namespace pagoda::model
