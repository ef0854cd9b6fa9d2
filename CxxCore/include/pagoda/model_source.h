// ModelSource: where the files of a model come from.
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

// Where a model comes from: a folder or a .gguf file, files in memory when `files` is not empty, or a shape.
struct ModelSource {
  std::string directory;
  std::vector<ModelFile> files;
  std::string shape{};  // of a well-known model, such as qwen3.5-0.8b, with pseudo-random weights: for measuring
};

}  // namespace pagoda
