// PackedWeight: a weight matrix in the order its kernels read it: blocks of 16 channels (matrix rows), each made of
// lines of 16 channels x `run` bytes of adjacent columns, which fits both an AMX tile row and a vector operand. 4 bits:
// 32 columns fold into half the lines; the second 16 columns are the high nibbles. Channels and columns are
// zero-padded. One buffer: values of all blocks, then the steps of 4-bit blocks, then the channel scales.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/threads/thread_pool.h"
#include "device/cpu/kernels.h"
#include "device/device.h"

namespace pagoda::device::cpu {

// Version of the packed byte format, for files that store it: increment it with every change of layout, quantisation or
// rotation.
constexpr int kPackedVersion = 1;

struct PackedLayout {
  PackedFormat format;
  int64_t run;  // bytes: 4 or 8
  int64_t rows, cols;
  int64_t blocks, groups;  // of 16 channels, of 128 columns
  int64_t block_bytes, step_bytes;
  int64_t steps_at, channel_scales_at, size_bytes;  // byte offsets in the buffer
};
PackedLayout packed_layout(WeightFormat format, int64_t rows, int64_t cols, int64_t run) noexcept;

constexpr bool is_packed(WeightFormat format) noexcept {
  return format == WeightFormat::bf16 || format == WeightFormat::q8 || format == WeightFormat::q4;
}

// Requires is_packed(format).
constexpr PackedFormat packed_format(WeightFormat format) noexcept {
  return format == WeightFormat::q8 ? kPacked8 : format == WeightFormat::q4 ? kPacked4 : kPackedBf16;
}

class PackedWeight final : public Weight {
 public:
  PackedWeight(const PackedLayout& layout, WeightFormat format, std::unique_ptr<Buffer> buffer) noexcept;
  int64_t rows() const noexcept override { return layout_.rows; }
  int64_t cols() const noexcept override { return layout_.cols; }
  WeightFormat format() const noexcept override { return format_; }
  size_t size_bytes() const noexcept override { return static_cast<size_t>(layout_.size_bytes); }
  std::span<const std::byte> bytes() const noexcept override { return {data_, size_bytes()}; }

  const PackedLayout& layout() const noexcept { return layout_; }
  // Sets the fields of a tile that locate the data from `block` on.
  void place(int64_t block, PackedTile& tile) const noexcept;
  // The values a row represents, [cols]; scratch: [padded cols].
  void load_row(const Kernels& kernels, int64_t row, float* scratch, float* to) const noexcept;

 private:
  PackedLayout layout_;
  WeightFormat format_;
  std::unique_ptr<Buffer> buffer_;
  const std::byte* data_;
};

// Reads and packs `source` on all threads of the pool, into memory of layout.size_bytes.
Status fill_packed_weight(const WeightSource& source, WeightFormat format, const PackedLayout& layout,
                          const Kernels& kernels, ThreadPool& pool, std::byte* to);
// The same into memory of its own.
Result<std::unique_ptr<Weight>> make_packed_weight(const WeightSource& source, WeightFormat format,
                                                   const Kernels& kernels, ThreadPool& pool);

}  // namespace pagoda::device::cpu
