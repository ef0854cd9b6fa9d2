// Weights: the tensors of a checkpoint on a device, found by layer and role.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "model/weights/cache.h"
#include "model/weights/groups.h"

namespace pagoda::model {

class Weights {
 public:
  // Checks the whole checkpoint first, then reads it in chunks, or the matrices from `cache`, if it is set;
  // `progress`, if set, receives the completed fraction; if it returns false, the load ends with `cancelled`.
  static Result<Weights> load(const io::ModelConfig& config, const io::Checkpoint& checkpoint, device::Device& device,
                              WeightFormat format, const std::function<bool(double)>& progress, WeightCache* cache);

  // Null, or absent, if the layer has none.
  const device::Weight* matrix(int layer_index, Role role) const noexcept {
    return entries_[index(layer_index, role)].matrix.get();
  }
  const device::Tensor& vector(int layer_index, Role role) const noexcept {  // f32
    return entries_[index(layer_index, role)].vector;
  }
  // f32 [rows, rotary_dim / 2], see model/layers/rope.h; of full or of sliding attention.
  const device::Tensor& inv_freq(bool is_sliding) const noexcept { return is_sliding ? sliding_inv_freq_ : inv_freq_; }

 private:
  struct Entry {
    std::unique_ptr<device::Weight> matrix;
    device::Tensor vector;
  };
  using RowCounter = std::function<Status(int64_t num_rows)>;

  static size_t index(int layer_index, Role role) noexcept {
    return static_cast<size_t>(layer_index - kModelLevel) * kNumRoles + static_cast<size_t>(role);
  }
  Status load_matrices(const std::vector<WeightGroup>& groups, const io::Checkpoint& checkpoint, device::Device& device,
                       WeightFormat format, const std::function<bool(double)>& progress);
  bool read_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, device::Device& device,
                  WeightFormat format);
  Status write_cache(const std::vector<WeightGroup>& groups, const WeightCacheFile& file, int64_t max_bytes) const;
  Status load_matrix(const WeightGroup& group, const io::Checkpoint& checkpoint, device::Device& device,
                     WeightFormat format, const RowCounter& count_rows);
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
