// Decoder: a part of a model's layers, whose rows are exchanged with other machines.
#include <algorithm>
#include <utility>

#include "base/assign_or_return.h"
#include "model/batch_check.h"
#include "model/decoder.h"

namespace pagoda::model {

// Adds the delta that the norm of the next layer would add: one row is sent instead of two.
Status Decoder::run_layers(const ForwardBatch& batch, std::span<const float> in, std::span<float> out) {
  logits_ = {};
  picked_.clear();
  states_ = {};
  const size_t count = static_cast<size_t>(batch.num_tokens()) * static_cast<size_t>(config_.hidden_size);
  if (!is_allocated_ || !config_.is_part() || out.size() != count || in.size() != (config_.has_ends() ? 0 : count))
    return make_error(StatusCode::internal, "run_layers() of a model that is no part, or with too few or many rows");
  PAGODA_RETURN_IF_ERROR(check_batch(batch, config_, layout_, sizes_));
  PAGODA_ASSIGN_OR_RETURN(auto step, workspace_.begin(batch, device_));
  if (!in.empty()) PAGODA_RETURN_IF_ERROR(upload_rows(step.hidden, in));
  device::Encoder& encoder = device_.encoder();
  Status encoded = move_units(encoder, batch);
  if (encoded.is_ok()) encoded = zero_fresh_slots(encoder, step);
  if (encoded.is_ok() && in.empty()) encoded = embed(encoder, step);
  if (encoded.is_ok()) encoded = encode_layers(encoder, step);
  PAGODA_RETURN_IF_ERROR(submit(encoder, std::move(encoded)));
  PAGODA_RETURN_IF_ERROR(download_rows(step.hidden, out, /*adds=*/false));
  return download_rows(step.delta, out, /*adds=*/true);
}

// Rows on the device have gaps between them if their width is odd; those of other machines have none.
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
  Status encoded = norm(encoder, step, {}, final_norm_, step.normed);
  PAGODA_RETURN_IF_ERROR(submit(encoder, std::move(encoded)));
  states_ = step.normed;
  return ok_status();
}

}  // namespace pagoda::model
