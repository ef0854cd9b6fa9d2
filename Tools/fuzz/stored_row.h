// Reads the first row of a tensor as it is stored, for fuzzers of quantised files.
#pragma once

#include <vector>

#include "base/quant/stored_row.h"
#include "io/tensor_entry.h"

namespace pagoda {

inline void read_stored_row(const io::TensorEntry& tensor) {
  const auto format = tensor.decoder->stored_format();
  const int64_t cols = tensor.shape.back();
  if (!format) return;
  if (!is_stored(*format)) {
    std::vector<std::byte> floats(static_cast<size_t>(cols) * (*format == WeightFormat::f32 ? 4 : 2));
    (void)tensor.decoder->read_stored(0, 1, floats);
    return;
  }
  if (cols % quant_format(*format).unit() != 0) return;  // as pieces_of() does
  const QuantFormat& f = quant_format(*format);
  std::vector<std::byte> row(stored_row_bytes(f, cols));
  std::vector<float> numbers(static_cast<size_t>(cols));
  if (tensor.decoder->read_stored(0, 1, row).is_ok())
    dequantise(f, stored_row(f, cols, row.data()), cols, numbers.data());
}

}  // namespace pagoda
