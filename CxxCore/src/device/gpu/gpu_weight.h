// GpuWeight: a weight matrix in the memory of a backend, as Shaders/matmul.h describes it: rows in order, zeros
// after the last row and column, then (4 bits) steps and offsets, then (8 and 4 bits) a scale for each row.
#pragma once

#include <memory>

#include "device/device.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu {

struct WeightLayout {
  int64_t padded_rows = 0, padded_cols = 0;
  int64_t row_bytes = 0;
  int64_t steps_offset = 0, scales_offset = 0;  // bytes; where the format has none, the end of what is before
  int64_t size_bytes = 0;
};

WeightLayout weight_layout(int64_t rows, int64_t cols, WeightFormat format) noexcept;

class GpuWeight final : public Weight {
 public:
  GpuWeight(std::unique_ptr<Buffer> buffer, int64_t rows, int64_t cols, WeightFormat format) noexcept
      : buffer_(std::move(buffer)),
        layout_(weight_layout(rows, cols, format)),
        rows_(rows),
        cols_(cols),
        format_(format) {}
  int64_t rows() const noexcept override { return rows_; }
  int64_t cols() const noexcept override { return cols_; }
  WeightFormat format() const noexcept override { return format_; }
  size_t size_bytes() const noexcept override { return buffer_->size_bytes(); }
  std::span<const std::byte> bytes() const noexcept override { return {}; }

  Buffer* buffer() const noexcept { return buffer_.get(); }
  const WeightLayout& layout() const noexcept { return layout_; }

 private:
  std::unique_ptr<Buffer> buffer_;
  WeightLayout layout_;
  int64_t rows_, cols_;
  WeightFormat format_;
};

// Reads `source` in pieces, converts or quantises them and puts them into the backend's memory. A finite number that
// the format cannot hold is an error.
Result<std::unique_ptr<Weight>> make_weight(Backend& backend, const WeightSource& source, WeightFormat format);

}  // namespace pagoda::device::gpu
