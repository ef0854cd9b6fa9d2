// ModelSource: the origin of a model's files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/swift_bridging.h"

namespace pagoda {

// A file of a model that lives in memory (the embedded one). The bytes must outlive the engine.
struct ModelFile {
  std::string name;
  const uint8_t* PAGODA_NULLABLE data = nullptr;
  uint64_t size_bytes = 0;
};

// The origin of a model: a folder or a .gguf file, files in memory if `files` is not empty, or a shape.
struct ModelSource {
  std::string directory;
  std::vector<ModelFile> files;
  std::string shape{};        // a well-known model, such as qwen3.5-0.8b, with pseudo-random weights: for measurements
  std::string vision_file{};  // a path: the vision tower of a GGUF model; "" = the one beside the model
};

}  // namespace pagoda
