// Hyper-connections around a mixer or MLP.
#include "model/layers/streams.h"

#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::Tensor;

Status norm_streams(device::Encoder& encoder, const Tensor& streams, const Tensor& addition, const Tensor& weight,
                    float eps, const Tensor& out) {
  const int64_t width = weight.shape[1];
  for (int64_t stream = 0; stream < weight.shape[0]; ++stream) {
    const Tensor row = slice(weight, 0, stream, 1);
    PAGODA_RETURN_IF_ERROR(
        ops::rms_norm(encoder, {.x = slice(streams, 1, stream * width, width),
                                .residual = addition,
                                .weight = device::dense(row.buffer, row.dtype, {width}, row.offset_bytes),
                                .eps = eps,
                                .weight_offset = 1.0f,
                                .out = slice(out, 1, stream * width, width)}));
  }
  return ok_status();
}

// The norm's weight [streams * H] as a row for each stream.
static Tensor by_stream(const Tensor& weight, int64_t num_streams) noexcept {
  return device::dense(weight.buffer, weight.dtype, {num_streams, weight.shape[0] / num_streams}, weight.offset_bytes);
}

StreamMixer::StreamMixer(const io::ModelConfig& config, const Weights& weights, int layer_index,
                         const StreamRoles& roles)
    : down_(weights.matrix(layer_index, roles.down)),
      up_(weights.matrix(layer_index, roles.up)),
      norm_(by_stream(weights.vector(layer_index, roles.norm), config.num_streams)),
      num_streams_(config.num_streams),
      rank_(config.stream_rank),
      eps_(config.rms_norm_eps) {}

Status StreamMixer::mix(device::Encoder& encoder, const Step& step, const Tensor& out, const Tensor& addition) const {
  const float share = 1.0f / static_cast<float>(num_streams_);
  const Tensor weights = slice(step.streams_weights, 1, 0, down_->rows()), low = slice(weights, 1, 0, rank_);
  PAGODA_RETURN_IF_ERROR(norm_streams(encoder, step.hidden, addition, norm_, eps_, step.streams_normed));
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = step.streams_normed, .weight = down_, .bias = {}, .out = weights}));
  PAGODA_RETURN_IF_ERROR(ops::silu_rows(encoder, {.x = low, .factor = share}));
  PAGODA_RETURN_IF_ERROR(ops::matmul(encoder, {.x = low, .weight = up_, .bias = {}, .out = step.streams_gates}));
  return ops::mix_streams(encoder, {.x = step.streams_normed, .gates = step.streams_gates, .out = out});
}

Status StreamMixer::inject(device::Encoder& encoder, const Step& step) const {
  return ops::inject_streams(encoder, {.x = step.delta,
                                       .weights = slice(step.streams_weights, 1, rank_, num_streams_),
                                       .factor = 1.0f / static_cast<float>(num_streams_),
                                       .streams = step.hidden});
}

}  // namespace pagoda::model
