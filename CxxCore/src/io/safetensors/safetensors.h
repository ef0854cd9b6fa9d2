// Safetensors: reads and validates the header of one file; no byte of it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/dtype.h"
#include "base/result.h"
#include "io/model_files.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

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
