// TensorEntry: where a file of any format stores a tensor, and how its elements are decoded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
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

}  // namespace pagoda::io
