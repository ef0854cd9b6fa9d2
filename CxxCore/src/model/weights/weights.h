// Weights: the tensors of a checkpoint on a device, found by layer and role.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "model/weights/cache.h"
#include "model/weights/groups.h"
#include "model/weights/row_table.h"

namespace pagoda::model {

// Reports the bytes of the matrices that are on the device.
class ByteCounter {
 public:
  ByteCounter(const LoadProgress& progress, int64_t total_bytes) : progress_(progress), total_bytes_(total_bytes) {}
  // `num_bytes` more; the load is cancelled if the caller does not want the rest.
  Status add(int64_t num_bytes) {
    num_bytes_ += num_bytes;
    most_bytes_ = std::max(most_bytes_, num_bytes_);
    if (!progress_ || progress_(most_bytes_, total_bytes_)) return ok_status();
    return make_error(StatusCode::cancelled, "the load was cancelled");
  }
  // What was loaded is loaded again; the caller sees nothing until there is more.
  void restart() noexcept { num_bytes_ = 0; }

 private:
  const LoadProgress& progress_;
  int64_t total_bytes_, num_bytes_ = 0, most_bytes_ = 0;
};

// Of all groups that are not matrices, and of the tables of RoPE, on a device.
int64_t vector_bytes(const std::vector<WeightGroup>& groups, const io::ModelConfig& config);

class Weights {
 public:
  // Checks the whole checkpoint first, then reads it in chunks, or the matrices from `cache`. Both may be null.
  // With `expert_memory_bytes` the experts of mixtures stay in the files, and the device reads them into that memory
  // when steps need them; the files must not change.
  static Result<Weights> load(const io::ModelConfig& config, const io::Checkpoint& checkpoint, device::Device& device,
                              WeightFormat format, const LoadProgress& progress, WeightCache* cache,
                              int64_t expert_memory_bytes = 0);

  // Null, or absent, if the layer has none.
  const device::Weight* matrix(int layer_index, Role role) const noexcept {
    return entries_[index(layer_index, role)].matrix.get();
  }
  const device::Tensor& vector(int layer_index, Role role) const noexcept {  // f32
    return entries_[index(layer_index, role)].vector;
  }
  // Null if the layer has none.
  const device::RowTable* table(int layer_index) const noexcept {
    return entries_[index(layer_index, Role::ngram_table)].table.get();
  }
  const NgramHash& ngram_hash(int layer_index) const noexcept {  // of the layer's table
    return entries_[index(layer_index, Role::ngram_table)].hash;
  }
  // f32 [rows, rotary_dim / 2], see model/layers/rope.h; of full or of sliding attention.
  const device::Tensor& inv_freq(bool is_sliding) const noexcept { return is_sliding ? sliding_inv_freq_ : inv_freq_; }

 private:
  struct Entry {
    std::unique_ptr<device::Weight> matrix;
    device::Tensor vector;
    std::unique_ptr<device::RowTable> table;
    NgramHash hash;
  };
  static size_t index(int layer_index, Role role) noexcept {
    return static_cast<size_t>(layer_index - kModelLevel) * kNumRoles + static_cast<size_t>(role);
  }
  Status stream_experts(const io::ModelConfig& config, const io::Checkpoint& checkpoint, device::Device& device,
                        WeightFormat format, int64_t memory_bytes);
  Status load_matrices(const std::vector<WeightGroup>& groups, const io::Checkpoint& checkpoint, device::Device& device,
                       WeightFormat format, ByteCounter& counter);
  Status read_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, device::Device& device,
                    WeightFormat format, ByteCounter& counter);
  Status write_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, device::Device& device,
                     int64_t max_bytes, ByteCounter& counter) const;
  Status load_matrix(const WeightGroup& group, const io::Checkpoint& checkpoint, device::Device& device,
                     WeightFormat format, ByteCounter& counter);
  // Takes the next pieces of a group, and makes them its matrix.
  Status place_matrix(const WeightGroup& group, std::vector<std::unique_ptr<device::Weight>> pieces,
                      device::Device& device);
  Status load_vectors(const std::vector<WeightGroup>& groups, const io::ModelConfig& config,
                      const io::Checkpoint& checkpoint, device::Device& device);

  std::vector<Entry> entries_;               // [1 + layers, roles]
  std::unique_ptr<device::Buffer> vectors_;  // every vector, and inv_freq
  device::Tensor inv_freq_, sliding_inv_freq_;
};

}  // namespace pagoda::model
