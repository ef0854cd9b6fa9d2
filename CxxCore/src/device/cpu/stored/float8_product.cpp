// Multiplies panels of 64 channels x 128 columns, which stay in the L1 cache while rows stream past.
#include "device/cpu/stored/float8_product.h"

#include <algorithm>

namespace pagoda::device::cpu {
namespace {

// Columns of one group, for at most kFloat8Rows rows and kFloat8Channels channels, from `first` of the range on.
class Panel {
 public:
  Panel(const Context& context, const StoredWeight& weight, const Float8Range& range, int thread) noexcept
      : context_(context), range_(range), scratch_(context.matmul.scratch + thread * kMatmulScratch) {
    weight.place(range.begin / kBlockChannels, weights_);
  }

  void multiply(int64_t row, int64_t num_rows, int64_t first) const noexcept {
    const int64_t count = std::min(kFloat8Channels, range_.count - first), groups = weights_.cols / kPackedColumns;
    PackedTile tile{};
    tile.blocks = (count + kBlockChannels - 1) / kBlockChannels;
    tile.block_bytes = kPackedColumns * kBlockChannels * 2;
    tile.x_stride = MatmulMemory::row_bytes(groups, kPackedBf16);
    tile.groups = 1;
    tile.m = num_rows;
    tile.out = reinterpret_cast<float*>(scratch_ + kPackedScratch + kFloat8Panel);
    tile.out_stride = kFloat8Channels;
    tile.n = tile.blocks * kBlockChannels;
    tile.scratch = scratch_;
    std::byte* panel = scratch_ + kPackedScratch;
    tile.weights = panel;
    const std::byte* x = context_.matmul.values + (range_.row + row) * tile.x_stride;
    const int64_t block = first / kBlockChannels, code_bytes = kPackedColumns * kBlockChannels;
    for (int64_t group = 0; group < groups; ++group) {
      for (int64_t j = 0; j < tile.blocks; ++j)
        context_.kernels->widen_float8(weights_.codes + (block + j) * weights_.code_bytes + group * code_bytes,
                                       kPackedColumns, context_.kernels->packed.run, panel + j * tile.block_bytes);
      tile.x = x + group * kPackedColumns * 2;
      context_.kernels->packed.matmul[kPackedBf16](tile);
      add(tile, row, first, group, group == groups - 1);
    }
  }

 private:
  void add(const PackedTile& tile, int64_t row, int64_t first, int64_t group, bool is_last) const noexcept {
    for (int64_t j = 0; j < tile.blocks; ++j) {
      const int64_t n = first + j * kBlockChannels;
      const std::byte* scales =
          weights_.scales + n / kBlockChannels * weights_.scale_bytes + group * kBlockChannels * 4;
      // Sums wait in the scratch memory: rows of results are often a power of two apart, and share few cache lines.
      float* total = tile.out + kFloat8Rows * kFloat8Channels + j * kBlockChannels;
      ScaledPart part{tile.out + j * kBlockChannels,
                      group > 0 ? total : nullptr,
                      reinterpret_cast<const float*>(scales),
                      kFloat8Channels,
                      nullptr,
                      total,
                      kFloat8Channels,
                      tile.m,
                      kBlockChannels};
      if (is_last) {
        part.bias = range_.bias ? range_.bias + n : nullptr;
        part.out = range_.out + row * range_.out_stride + n;
        part.out_stride = range_.out_stride;
        part.n = std::min(kBlockChannels, range_.count - n);
      }
      context_.kernels->add_part(part);
    }
  }

  const Context& context_;
  const Float8Range& range_;
  StoredTile weights_{};
  std::byte* scratch_;
};

}  // namespace

void multiply_float8(const Context& context, const StoredWeight& weight, const Float8Range& range,
                     int thread) noexcept {
  const Panel panel(context, weight, range, thread);
  for (int64_t row = 0; row < range.num_rows; row += kFloat8Rows)
    for (int64_t first = 0; first < range.count; first += kFloat8Channels)
      panel.multiply(row, std::min(kFloat8Rows, range.num_rows - row), first);
}

}  // namespace pagoda::device::cpu
