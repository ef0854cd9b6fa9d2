// AdapterLayout: the projections of a model that LoRA adapters may change, by the names that files give them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
  int64_t num_experts = 1;  // each with the parts

  int64_t num_matrices() const noexcept { return num_experts * static_cast<int64_t>(parts.size()); }
};

// Rows of a pair's B, which belong to one part of a target.
struct AdapterPiece {
  int target = 0, part = 0;
  int64_t expert = 0;  // of a stack the first
  int64_t first_row = 0, num_rows = 0;
};

// Where a pair's products are added. Gate and up that share their A are two pieces.
struct AdapterPlace {
  io::LoraPair pair;  // as the model's weights lie
  std::vector<AdapterPiece> pieces;
};

class AdapterLayout {
 public:
  AdapterLayout() = default;
  AdapterLayout(const io::ModelConfig& config, const std::vector<WeightGroup>& groups);

  const std::vector<AdapterTarget>& targets() const noexcept { return targets_; }
  // Fails if the model has no such projection, or one of another shape.
  Result<AdapterPlace> place(const io::LoraPair& pair, const std::string& file_name) const;

 private:
  int find(int layer_index, Role role) const noexcept;  // -1: none
  std::vector<AdapterPiece> find_plain(const std::string& name) const;
  std::vector<AdapterPiece> find_routed(const io::LoraPair& pair) const;

  std::vector<AdapterTarget> targets_;
};

}  // namespace pagoda::model
