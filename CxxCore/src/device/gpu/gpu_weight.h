// GpuWeight: a weight matrix in the memory of a backend, in the layout of Shaders/matmul.h: rows in order, zeros after
// the last row and column, then steps and offsets (4 bits) or shifts (8 bits), then (both) a scale per row.
#pragma once

#include <memory>

#include "device/device.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu {

struct WeightLayout {
  int64_t padded_rows = 0, padded_cols = 0;
  int64_t row_bytes = 0;
  int64_t steps_offset = 0, scales_offset = 0;  // bytes; the end of the previous part if the format has none
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

// Reads `source` in chunks, converts or quantises them and stores them in the backend's memory. A finite number that
// the format cannot represent is an error.
Result<std::unique_ptr<Weight>> make_weight(Backend& backend, const WeightSource& source, WeightFormat format);

}  // namespace pagoda::device::gpu
