// VisionTower: the ops of a part. What a part adds to x waits in its rows of q, and the next norm adds it.
#include <cmath>

#include "model/vision/positions.h"
#include "model/vision/tower.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::slice;
using device::split_last;
using device::Tensor;

Status VisionTower::linear(const TowerWeights::Linear& linear, const Tensor& x, const Tensor& out) {
  return ops::matmul(device_->encoder(), {.x = x, .weight = linear.weight.get(), .bias = linear.bias, .out = out});
}

Status VisionTower::norm(const TowerWeights::Norm& norm, const Tensor& x, const Tensor& residual, const Tensor& out) {
  return ops::layer_norm(device_->encoder(),
                         {.x = x, .residual = residual, .weight = norm.weight, .bias = norm.bias, .out = out});
}

// The learned positions are added by the first norm.
Status VisionTower::embed(int64_t first, int64_t count) {
  const auto width = static_cast<size_t>(config_.hidden_size), rows = static_cast<size_t>(count);
  const std::span<float> patches = std::span(host_rows_).first(rows * static_cast<size_t>(config_.patch_dim()));
  if (!image_.copy_patches(static_cast<int32_t>(first), static_cast<int32_t>(count), patches))
    return make_error(StatusCode::internal, "an image has fewer patches than it said");
  const Tensor input = slice(buffers_.patches, 0, 0, count);
  PAGODA_RETURN_IF_ERROR(device_->upload(input, patches.data(), patches.size_bytes()));
  PAGODA_RETURN_IF_ERROR(linear(weights_.patch_embed, input, slice(buffers_.x, 0, first, count)));
  const std::span<float> positions = std::span(host_rows_).first(rows * width);
  for (size_t i = 0; i < rows; ++i) {
    const PatchPlace place =
        patch_place(static_cast<int32_t>(first) + static_cast<int32_t>(i), image_.grid_w(), config_.merge_size);
    resample_position(config_, weights_.positions, image_.grid_h(), image_.grid_w(), place,
                      positions.subspan(i * width, width));
  }
  return device_->upload(slice(buffers_.q, 0, first, count), positions.data(), positions.size_bytes());
}

// By the row of each patch, then by its column: each rotates half of the pairs, and leaves the others.
Status VisionTower::rotate(const Tensor& heads, const Tensor& out, int64_t first, int64_t count) {
  for (int axis = 0; axis < 2; ++axis) {
    Tensor speeds = slice(buffers_.inv_freq, 0, axis, 1);
    speeds = device::dense(speeds.buffer, speeds.dtype, {speeds.shape[1]}, speeds.offset_bytes);
    PAGODA_RETURN_IF_ERROR(ops::qk_norm_rope(
        device_->encoder(), {.x = heads,
                             .weight = {},
                             .positions = slice(axis == 0 ? buffers_.rows : buffers_.cols, 0, first, count),
                             .inv_freq = speeds,
                             .out = axis == 0 ? heads : out}));
  }
  return ok_status();
}

Status VisionTower::project(const TowerWeights::Block& block, int64_t first, int64_t count) {
  const int64_t width = config_.hidden_size, heads = config_.num_heads, dim = config_.head_dim();
  const Tensor x = slice(buffers_.x, 0, first, count), q = slice(buffers_.q, 0, first, count);
  const Tensor normed = slice(buffers_.normed, 0, 0, count), projected = slice(buffers_.projected, 0, 0, count);
  PAGODA_RETURN_IF_ERROR(norm(block.norm1, x, addition(first, count), normed));
  PAGODA_RETURN_IF_ERROR(linear(block.qkv, normed, projected));
  const auto part = [&](int64_t index) { return split_last(slice(projected, 1, index * width, width), heads, dim); };
  PAGODA_RETURN_IF_ERROR(rotate(part(0), split_last(q, heads, dim), first, count));
  PAGODA_RETURN_IF_ERROR(rotate(part(1), part(1), first, count));
  return ops::reshape_and_cache(device_->encoder(), {.k = part(1),
                                                     .v = part(2),
                                                     .slot_mapping = slice(buffers_.slots, 0, first, count),
                                                     .k_cache = buffers_.k,
                                                     .v_cache = buffers_.v});
}

Status VisionTower::mix(const TowerWeights::Block& block, int64_t first, int64_t count) {
  const int64_t heads = config_.num_heads, dim = config_.head_dim();
  const int32_t bounds[2] = {0, static_cast<int32_t>(count)};
  PAGODA_RETURN_IF_ERROR(device_->upload(buffers_.bounds, bounds, sizeof bounds));
  const Tensor x = slice(buffers_.x, 0, first, count), q = slice(buffers_.q, 0, first, count);
  const Tensor mixed = slice(buffers_.mixed, 0, 0, count), delta = slice(buffers_.delta, 0, 0, count);
  const Tensor normed = slice(buffers_.normed, 0, 0, count), inner = slice(buffers_.inner, 0, 0, count);
  PAGODA_RETURN_IF_ERROR(ops::paged_attention(device_->encoder(), {.q = split_last(q, heads, dim),
                                                                   .k_cache = buffers_.k,
                                                                   .v_cache = buffers_.v,
                                                                   .sequences = {.cu_seqlens = buffers_.bounds,
                                                                                 .context_lens = buffers_.context,
                                                                                 .block_tables = buffers_.block_table,
                                                                                 .state_slots = {},
                                                                                 .max_context = image_.num_patches()},
                                                                   .scale = 1.0f / std::sqrt(static_cast<float>(dim)),
                                                                   .out = split_last(mixed, heads, dim),
                                                                   .is_causal = false}));
  PAGODA_RETURN_IF_ERROR(linear(block.proj, mixed, delta));
  PAGODA_RETURN_IF_ERROR(norm(block.norm2, x, delta, normed));
  PAGODA_RETURN_IF_ERROR(linear(block.fc1, normed, inner));
  PAGODA_RETURN_IF_ERROR(ops::gelu(device_->encoder(), {.x = inner}));
  return linear(block.fc2, inner, q);
}

Tensor VisionTower::addition(int64_t first, int64_t count) const noexcept {
  return is_added_ ? Tensor{} : slice(buffers_.q, 0, first, count);
}

// The patches of a token are adjacent rows, and so one row of four times the width.
static Tensor as_tokens(const Tensor& patches, int64_t merged_size) {
  return device::dense(patches.buffer, patches.dtype, {patches.num_elements() / merged_size, merged_size},
                       patches.offset_bytes);
}

Status VisionTower::merge(int64_t first, int64_t count) {
  const Tensor normed = slice(buffers_.normed, 0, 0, count);
  PAGODA_RETURN_IF_ERROR(
      norm(weights_.merger.norm, slice(buffers_.x, 0, first, count), addition(first, count), normed));
  return finish_merge(weights_.merger, as_tokens(normed, config_.merged_size()));
}

// DeepStack: a merger between two blocks, which normalises after it has joined the patches of a token.
Status VisionTower::deepen(int64_t first, int64_t count) {
  const TowerWeights::Merger& merger = weights_.deep_mergers[static_cast<size_t>(feature())];
  const auto tokens = [&](const Tensor& patches) { return as_tokens(patches, config_.merged_size()); };
  const Tensor normed = tokens(slice(buffers_.normed, 0, 0, count));
  PAGODA_RETURN_IF_ERROR(norm(merger.norm, tokens(slice(buffers_.x, 0, first, count)),
                              tokens(slice(buffers_.q, 0, first, count)), normed));
  return finish_merge(merger, normed);
}

Status VisionTower::finish_merge(const TowerWeights::Merger& merger, const Tensor& tokens) {
  const Tensor inner = slice(buffers_.merged_in, 0, 0, tokens.shape[0]);
  PAGODA_RETURN_IF_ERROR(linear(merger.fc1, tokens, inner));
  PAGODA_RETURN_IF_ERROR(ops::gelu(device_->encoder(), {.x = inner, .is_exact = true}));
  return linear(merger.fc2, inner, slice(buffers_.merged, 0, 0, tokens.shape[0]));
}

}  // namespace pagoda::model
