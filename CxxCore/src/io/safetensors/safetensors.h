// Safetensors: reads and validates the header of one file; no byte of it is trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "io/model_files.h"
#include "io/tensor_decoder.h"

namespace pagoda::io {

struct TensorEntry {
  DType dtype = DType::f32;  // as stored, or as produced by `decoder` (f32)
  std::vector<int64_t> shape;
  uint64_t offset_bytes = 0;  // from the start of the file
  uint64_t size_bytes = 0;
  int file_index = 0;
  std::shared_ptr<const TensorDecoder> decoder = nullptr;  // null: elements are stored unchanged
  int bits = 0;                                            // per weight, if quantised; else 0
};

using TensorMap = std::map<std::string, TensorEntry>;

// Format limits and our own. Ours bound the cost of a hostile header: about 16 MiB and 0.1 s.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;    // format limit, including padding
inline constexpr uint64_t kMaxHeaderJsonBytes = 5'000'000;  // without surrounding whitespace
inline constexpr size_t kMaxTensorsPerFile = 40'000;        // a 35B-A3B model in one file would have 31,000
inline constexpr size_t kMaxMetadataKeys = 4096;
inline constexpr size_t kMaxTensorNameBytes = 1024;
inline constexpr size_t kMaxTensorDims = 16;

// Name of a type in a header: F32, BF16, ...
std::string_view safetensors_dtype_name(DType type) noexcept;

// The tensors must cover the file from the end of the header to its last byte, without gaps or overlaps.
Result<TensorMap> read_safetensors_header(const File& file, int file_index);

}  // namespace pagoda::io
