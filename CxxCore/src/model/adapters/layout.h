// AdapterLayout: the projections of a model that LoRA adapters may change, and an adapter's numbers in the form in
// which the device reads them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"
#include "device/adapter_ops.h"
#include "io/config/model_config.h"
#include "io/lora/lora_file.h"
#include "model/weights/groups.h"

namespace pagoda::model {

// One weight of a layer, and the projections that are stacked in it.
struct AdapterTarget {
  struct Part {
    std::string name;                // of the projection, from "layers." on
    int64_t first = 0, rows = 0;     // rows of the weight
    std::vector<int32_t> row_order;  // as in io::WeightSpec
  };
  int layer_index = 0;
  Role role = Role::mixer_in;
  int64_t cols = 0;
  std::vector<Part> parts;
};

class AdapterLayout {
 public:
  AdapterLayout() = default;
  AdapterLayout(const io::ModelConfig& config, const std::vector<WeightGroup>& groups);

  const std::vector<AdapterTarget>& targets() const noexcept { return targets_; }
  // The target and the part of a projection, or {-1, 0}.
  std::pair<int, int> find(const std::string& name) const noexcept;
  int find(int layer_index, Role role) const noexcept;  // -1: none

 private:
  std::vector<AdapterTarget> targets_;
};

struct AdapterImage {
  struct Entry {
    int target = 0, part = 0;
    int64_t a = 0, b = 0, rank = 0;  // offsets in `values`: A [rank, in]; B times the scale, transposed: [rank, out]
  };
  std::vector<float> values;
  std::vector<Entry> entries;
  int64_t max_rank = 0;
  Hash128Value identity;  // equal for adapters with equal products
};

// Elements of the image, from the headers alone. Fails if the model has no such projection, or one of another shape.
Result<int64_t> image_size(const AdapterLayout& layout, const io::LoraFile& file);
Result<AdapterImage> make_image(const AdapterLayout& layout, const io::LoraFile& file);

}  // namespace pagoda::model
