// LoRA adapters of an engine: what to load, and what is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/status.h"

namespace pagoda {

// A folder as peft or mlx-lm writes it, and the name by which requests choose it.
struct LoraSource {
  std::string name, folder;
};

struct LoraInfo {
  std::string name, folder;
  int64_t size_bytes = 0;  // on the device
};

}  // namespace pagoda
