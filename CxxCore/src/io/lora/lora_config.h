// LoraConfig: what adapter_config.json of peft or mlx-lm says about the scale of each projection.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::io {

constexpr int64_t kMaxLoraRank = 256;

struct LoraConfig {
  bool is_mlx = false;
  int64_t rank = 0;  // of projections that ranks does not name
  double alpha = 0;  // peft: scale = alpha / rank, or with is_rslora alpha / sqrt(rank)
  bool is_rslora = false;
  double mlx_scale = 0;  // mlx-lm: the scale itself
  std::map<std::string, int64_t> ranks;
  std::map<std::string, double> alphas;  // by the end of a module's name

  int64_t rank_of(std::string_view module) const;
  double scale_of(std::string_view module) const;
  bool has_pattern_of_experts() const;  // a rank or an alpha for experts.gate_up_proj, for example
};

// `file`: for messages.
Result<LoraConfig> parse_lora_config(std::string_view text, const std::string& file);

}  // namespace pagoda::io
