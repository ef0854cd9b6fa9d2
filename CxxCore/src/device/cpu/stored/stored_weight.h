// StoredWeight: a weight matrix with the codes and scales of its file, in blocks of 16 channels (matrix rows) in the
// order in which kernels/stored.h reads them. Channels are zero-padded. One buffer: codes of all blocks, then scales.
#pragma once

#include <memory>
#include <span>

#include "base/threads/thread_pool.h"
#include "device/cpu/kernels.h"
#include "device/device.h"

namespace pagoda::device::cpu {

// Version of the byte format, for files that store it: increment it with every change of layout.
constexpr int kStoredVersion = 1;

struct StoredLayout {
  const QuantFormat* format;
  int64_t rows, cols, blocks;
  int64_t code_bytes, scale_bytes;  // per block
  int64_t scales_at, size_bytes;    // byte offsets in the buffer
};
StoredLayout stored_layout(WeightFormat format, int64_t rows, int64_t cols) noexcept;

class StoredWeight final : public Weight {
 public:
  StoredWeight(WeightFormat format, const StoredLayout& layout, std::unique_ptr<Buffer> buffer) noexcept
      : format_(format), layout_(layout), buffer_(std::move(buffer)), data_(buffer_->host_pointer()) {}
  int64_t rows() const noexcept override { return layout_.rows; }
  int64_t cols() const noexcept override { return layout_.cols; }
  WeightFormat format() const noexcept override { return format_; }
  size_t size_bytes() const noexcept override { return static_cast<size_t>(layout_.size_bytes); }
  std::span<const std::byte> bytes() const noexcept override { return {data_, size_bytes()}; }

  // Sets the fields of a tile that locate the data from `block` on.
  void place(int64_t block, StoredTile& tile) const noexcept;
  // The numbers of a row, [cols]; scratch: stored_row_bytes(), at most 2 cols.
  void load_row(int64_t row, std::byte* scratch, float* to) const noexcept;

 private:
  WeightFormat format_;
  StoredLayout layout_;
  std::unique_ptr<Buffer> buffer_;
  const std::byte* data_;
};

// Reads and arranges `source` on all threads of the pool, into memory of layout.size_bytes.
Status fill_stored_weight(const WeightSource& source, const StoredLayout& layout, ThreadPool& pool, std::byte* to);
// The same into memory of its own.
Result<std::unique_ptr<Weight>> make_stored_weight(const WeightSource& source, WeightFormat format, ThreadPool& pool);

}  // namespace pagoda::device::cpu
