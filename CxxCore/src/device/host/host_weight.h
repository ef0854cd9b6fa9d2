// HostWeight: a weight matrix in host memory, rows in order, each padded with zeros to a multiple of 16 elements.
#pragma once

#include <memory>

#include "base/threads/thread_pool.h"
#include "device/device.h"

namespace pagoda::device::host {

constexpr int64_t kRowPadding = 16;  // elements; kernels read whole vectors of 16

class HostWeight final : public Weight {
 public:
  HostWeight(std::unique_ptr<Buffer> buffer, int64_t rows, int64_t cols, DType dtype) noexcept;
  int64_t rows() const noexcept override { return rows_; }
  int64_t cols() const noexcept override { return cols_; }
  WeightFormat format() const noexcept override { return weight_format(dtype_); }
  size_t size_bytes() const noexcept override { return buffer_->size_bytes(); }
  std::span<const std::byte> bytes() const noexcept override { return {data_, size_bytes()}; }

  DType dtype() const noexcept { return dtype_; }

  int64_t row_stride() const noexcept { return row_stride_; }  // elements
  const std::byte* row(int64_t index) const noexcept {
    return data_ + static_cast<size_t>(index * row_stride_) * dtype_bytes(dtype_);
  }

 private:
  std::unique_ptr<Buffer> buffer_;
  const std::byte* data_;
  int64_t rows_, cols_, row_stride_;
  DType dtype_;
};

// Quantised formats are stored as the floats they represent: exact but slow, for devices without quantised kernels.
size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) noexcept;

// Reads and converts `source`, on all threads of the pool if there is one. A finite number that overflows the stored
// type is an error: a silent infinity in a weight would surface as NaN logits much later.
Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format,
                                            ThreadPool* pool = nullptr);
// The same into memory of weight_bytes(), which is zero after the columns of a row.
Status fill_weight(const WeightSource& source, WeightFormat format, ThreadPool* pool, std::byte* to);

// The error of a row that has a finite number beyond the range of `format`.
Status does_not_fit(const WeightSource& source, int64_t row, WeightFormat format);

// Accepts float types, a non-null reader, and sizes whose product does not overflow.
Status check_source(const WeightSource& source);
// Accepts rows of whole groups, a non-null reader, and sizes whose product does not overflow.
Status check_stored_source(const WeightSource& source, WeightFormat format);

// A weight of floats with the rows of all `pieces`, which are HostWeights.
Result<std::unique_ptr<Weight>> join_weights(std::span<const std::unique_ptr<Weight>> pieces);

// Copies `count` elements starting at `from` (f32, f16 or bf16) to floats.
void to_f32(const std::byte* from, DType dtype, int64_t count, float* to) noexcept;

}  // namespace pagoda::device::host
