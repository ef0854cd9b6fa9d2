// TensorDecoder: the numbers of a tensor that a file keeps in a form of its own (quantised, reordered, in parts).
// Thread rule: immutable; read() may be called from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace pagoda::io {

class TensorDecoder {
 public:
  virtual ~TensorDecoder() = default;
  // Elements [begin, begin + into.size()) of the tensor, both multiples of its last dimension.
  virtual Status read(uint64_t begin, std::span<float> into) const = 0;
};

}  // namespace pagoda::io
