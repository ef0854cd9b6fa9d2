// IntegerDecoder: rows of a matrix that GPTQ, AWQ or compressed-tensors packed (integers.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/quantize/integers.h"
#include "io/tensor_decoder.h"

namespace pagoda::io {

struct IntegerMatrix {
  IntegerPacking packing;  // with the tensor's own bits
  uint64_t rows = 0, cols = 0, groups = 0;
  WeightFormat format{};  // of integer_format()
  std::shared_ptr<File> weight_file, scales_file, zeros_file;
  TensorEntry weight, scales;
  std::optional<TensorEntry> zeros;
};

class IntegerDecoder final : public TensorDecoder {
 public:
  explicit IntegerDecoder(IntegerMatrix matrix) : m_(std::move(matrix)) {}

  Status read(uint64_t begin, std::span<float> into) const override;
  std::optional<WeightFormat> stored_format() const override { return m_.format; }
  Status read_stored(uint64_t first, uint64_t count, std::span<std::byte> into) const override;

 private:
  struct Rows;  // where the rows go

  bool is_transposed() const noexcept { return m_.packing.layout <= IntegerLayout::awq; }
  Status read_codes(const Rows& rows) const;
  Status read_scales(const Rows& rows) const;
  Status read_zeros(const Rows& rows) const;

  IntegerMatrix m_;
};

}  // namespace pagoda::io
