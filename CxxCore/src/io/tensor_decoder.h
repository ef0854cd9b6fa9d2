// TensorDecoder: decodes a tensor that a file stores in a special form (quantised, reordered, split).
// Thread rule: immutable; read() may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/weight_format.h"

namespace pagoda::io {

class TensorDecoder {
 public:
  virtual ~TensorDecoder() = default;
  // Decodes elements [begin, begin + into.size()); both are multiples of the last dimension.
  virtual Status read(uint64_t begin, std::span<float> into) const = 0;
  // The format of the matrix in the file, a float type or a stored one; empty if a device cannot use it as it is.
  virtual std::optional<WeightFormat> stored_format() const { return std::nullopt; }
  // Rows [first, first + count) in stored_format(), if there is one: stored_row_bytes() each, or floats of that type.
  virtual Status read_stored([[maybe_unused]] uint64_t first, [[maybe_unused]] uint64_t count,
                             [[maybe_unused]] std::span<std::byte> into) const {
    return make_error(StatusCode::unsupported, "a tensor is only read as floats");
  }
};

}  // namespace pagoda::io
