// GpuWeight: a weight matrix in the memory of a backend, in the layout of Shaders/matmul.h: rows in order, zeros after
// the last row and column, then steps and offsets (4 bits) or shifts (8 bits), then (both) a scale per row. Stored
// formats have records of scales instead (Shaders/stored.h).
#pragma once

#include <memory>

#include "device/device.h"
#include "device/gpu/weights/stored_form.h"

namespace pagoda::device::gpu {

// The version of what RowPacker writes: files of another version are not read. The bytes are the same on every backend
// and every host.
constexpr int kWeightVersion = 2;

// The formats of kernels, in the order of the tables in ops.
enum class KernelFormat : uint8_t { f32, f16, bf16, q8, q4, s4, s8, s8f };
// Whether it is a form of stored formats.
constexpr bool is_stored(KernelFormat format) noexcept { return format >= KernelFormat::s4; }

// `format` is a float, 8bit, 4bit, or a stored one with a form.
KernelFormat kernel_format(WeightFormat format) noexcept;

struct WeightLayout {
  int64_t padded_rows = 0, padded_cols = 0;
  int64_t row_bytes = 0, step_bytes = 0, scale_bytes = 0;  // of one row
  int64_t steps_offset = 0, scales_offset = 0;             // bytes; the end of the previous part if the format has none
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
  KernelFormat kernel_format() const noexcept { return gpu::kernel_format(format_); }
  // Of a stored format; empty for others.
  pagoda_args::Scales scales() const noexcept {
    return pagoda::is_stored(format_) ? stored_form(quant_format(format_))->scales : pagoda_args::Scales{};
  }
  size_t size_bytes() const noexcept override { return buffer_->size_bytes(); }
  std::span<const std::byte> bytes() const noexcept override {
    const std::byte* host = buffer_->host_pointer();
    return host == nullptr ? std::span<const std::byte>() : std::span(host, buffer_->size_bytes());
  }

  Buffer* buffer() const noexcept { return buffer_.get(); }
  const WeightLayout& layout() const noexcept { return layout_; }

 private:
  std::unique_ptr<Buffer> buffer_;
  WeightLayout layout_;
  int64_t rows_, cols_;
  WeightFormat format_;
};

}  // namespace pagoda::device::gpu
