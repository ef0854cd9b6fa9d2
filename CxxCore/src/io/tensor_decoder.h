// TensorDecoder: decodes a tensor that a file stores in a special form (quantised, reordered, split).
// Thread rule: immutable; read() may be called from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace pagoda::io {

class TensorDecoder {
 public:
  virtual ~TensorDecoder() = default;
  // Decodes elements [begin, begin + into.size()); both are multiples of the last dimension.
  virtual Status read(uint64_t begin, std::span<float> into) const = 0;
};

}  // namespace pagoda::io
