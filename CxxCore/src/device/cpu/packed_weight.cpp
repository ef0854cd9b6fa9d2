// Layout, packing and unpacking of packed weights.
#include "device/cpu/packed_weight.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/assign_or_return.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"
#include "device/host/quantise.h"
#include "device/host/row_tasks.h"

namespace pagoda::device::cpu {
namespace {

using host::kStepGroup;
using host::Steps;

int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

// Offset in a block of byte `column` of channel `c` (of 16).
int64_t offset_of(int64_t column, int64_t c, int64_t run) noexcept {
  return column / run * run * kBlockChannels + c * run + column % run;
}

// Scatters one channel's bytes to their lines.
template <int64_t kRun>
void scatter_runs(const std::byte* from, int64_t size, int64_t c, std::byte* block) noexcept {
  for (int64_t i = 0; i < size; i += kRun) std::memcpy(block + offset_of(i, c, kRun), from + i, kRun);
}
void scatter(const std::byte* from, int64_t size, int64_t c, int64_t run, std::byte* block) noexcept {
  return run == 4 ? scatter_runs<4>(from, size, c, block) : scatter_runs<8>(from, size, c, block);
}

// Scratch memory of a thread.
struct PackScratch {
  std::vector<std::byte> rows;    // as read
  std::vector<float> row;         // [padded cols], zeros after cols
  std::vector<std::byte> values;  // [padded cols]: bf16, or bytes
  std::vector<Steps> steps;       // [padded cols / 32]

  PackScratch(int64_t padded, int64_t rows_bytes)
      : rows(static_cast<size_t>(rows_bytes)),
        row(static_cast<size_t>(padded)),
        values(static_cast<size_t>(padded) * 2),
        steps(static_cast<size_t>(padded / kStepGroup)) {}
};

class Packer {
 public:
  Packer(const PackedLayout& layout, const Kernels& kernels, std::byte* data) noexcept
      : l_(layout), kernels_(kernels), padded_(layout.groups * kPackedColumns), data_(data) {}

  // Packs row `n` of a matrix of bf16 whose elements are bf16 already.
  void copy(int64_t n, const std::byte* row, PackScratch& s) const noexcept {
    if (l_.cols != padded_) {
      std::memcpy(s.values.data(), row, static_cast<size_t>(l_.cols) * 2);
      row = s.values.data();
    }
    scatter(row, padded_ * 2, n % kBlockChannels, l_.run, block(n));
  }

  // Packs row `n` of the matrix, given as floats in scratch.row. Returns false if a number does not fit the format.
  bool pack(int64_t n, PackScratch& s) const noexcept {
    if (l_.format == kPackedBf16) return pack_bf16(n, s);
    const int64_t block = host::rotation_block(padded_);
    kernels_.rotate(s.row.data(), padded_, block);
    for (float& value : s.row) value *= 1.0f / static_cast<float>(block);  // exact: a power of two
    const bool fits = l_.format == kPacked8 ? pack_8bit(n, s) : pack_4bit(n, s);
    std::fill(s.row.begin() + l_.cols, s.row.end(), 0.0f);
    return fits;
  }

 private:
  std::byte* block(int64_t n) const noexcept { return data_ + n / kBlockChannels * l_.block_bytes; }
  float& channel_scale(int64_t n) const noexcept { return reinterpret_cast<float*>(data_ + l_.channel_scales_at)[n]; }

  bool pack_bf16(int64_t n, PackScratch& s) const noexcept {
    uint16_t* bits = reinterpret_cast<uint16_t*>(s.values.data());
    for (int64_t i = 0; i < l_.cols; ++i) {
      const float value = s.row[i];
      bits[i] = f32_to_bf16(value);
      if ((bits[i] & 0x7fff) == 0x7f80 && value - value == 0.0f) return false;  // a finite number became infinite
    }
    scatter(s.values.data(), padded_ * 2, n % kBlockChannels, l_.run, block(n));
    return true;
  }

  bool pack_8bit(int64_t n, PackScratch& s) const noexcept {
    if (!host::quantise_8bit(s.row, reinterpret_cast<int8_t*>(s.values.data()), channel_scale(n))) return false;
    scatter(s.values.data(), padded_, n % kBlockChannels, l_.run, block(n));
    return true;
  }

  bool pack_4bit(int64_t n, PackScratch& s) const noexcept {
    if (!host::quantise_4bit(s.row, reinterpret_cast<uint8_t*>(s.values.data()), s.steps.data(), channel_scale(n)))
      return false;
    const int64_t c = n % kBlockChannels, half = kStepGroup / 2;
    std::byte* to = data_ + l_.steps_at + n / kBlockChannels * l_.step_bytes;
    for (int64_t column = 0; column < padded_; column += kStepGroup) {
      std::byte folded[kStepGroup / 2];
      const std::byte* from = s.values.data() + column;
      for (int64_t i = 0; i < half; ++i) folded[i] = from[i] | from[half + i] << 4;
      scatter(folded, half, c, l_.run, block(n) + column * kBlockChannels / 2);
      const Steps steps = s.steps[column / kStepGroup];
      to[column + c] = std::byte{steps.step};
      to[column + kBlockChannels + c] = std::byte{steps.offset};
    }
    return true;
  }

  const PackedLayout& l_;
  const Kernels& kernels_;
  int64_t padded_;
  std::byte* data_;
};

}  // namespace

PackedLayout packed_layout(WeightFormat format, int64_t rows, int64_t cols, int64_t run) noexcept {
  PackedLayout l{};
  l.format = packed_format(format);
  l.run = run;
  l.rows = rows;
  l.cols = cols;
  l.blocks = round_up(rows, kBlockChannels) / kBlockChannels;
  l.groups = round_up(cols, kPackedColumns) / kPackedColumns;
  const int64_t padded = l.groups * kPackedColumns;
  l.block_bytes = kBlockChannels * padded * (l.format == kPackedBf16 ? 4 : l.format == kPacked8 ? 2 : 1) / 2;
  l.step_bytes = l.format == kPacked4 ? padded / kStepGroup * kBlockChannels * 2 : 0;
  l.steps_at = l.blocks * l.block_bytes;
  l.channel_scales_at = l.steps_at + l.blocks * l.step_bytes;
  l.size_bytes = l.channel_scales_at + (l.format == kPackedBf16 ? 0 : l.blocks * kBlockChannels * 4);
  return l;
}

PackedWeight::PackedWeight(const PackedLayout& layout, WeightFormat format, std::unique_ptr<Buffer> buffer) noexcept
    : layout_(layout), format_(format), buffer_(std::move(buffer)), data_(buffer_->host_pointer()) {}

void PackedWeight::place(int64_t block, PackedTile& tile) const noexcept {
  tile.weights = data_ + block * layout_.block_bytes;
  tile.block_bytes = layout_.block_bytes;
  tile.steps = data_ + layout_.steps_at + block * layout_.step_bytes;
  tile.step_bytes = layout_.step_bytes;
  tile.channel_scales = reinterpret_cast<const float*>(data_ + layout_.channel_scales_at) + block * kBlockChannels;
  tile.groups = layout_.groups;
}

void PackedWeight::load_row(const Kernels& kernels, int64_t row, float* scratch, float* to) const noexcept {
  PackedTile at{};
  place(row / kBlockChannels, at);
  const int64_t c = row % kBlockChannels, half = kStepGroup / 2, padded = layout_.groups * kPackedColumns;
  if (layout_.format == kPackedBf16) {
    for (int64_t i = 0; i < layout_.cols; ++i) {
      uint16_t bits;
      std::memcpy(&bits, at.weights + offset_of(2 * i, c, layout_.run), 2);
      to[i] = bf16_to_f32(bits);
    }
    return;
  }
  for (int64_t i = 0; i < padded; ++i) {
    if (layout_.format == kPacked8) {
      scratch[i] = static_cast<float>(static_cast<int8_t>(at.weights[offset_of(i, c, layout_.run)]));
      continue;
    }
    const int64_t chunk = i / kStepGroup * kStepGroup;
    const auto both =
        std::to_integer<int>(at.weights[chunk * kBlockChannels / 2 + offset_of(i % half, c, layout_.run)]);
    const int q = i % kStepGroup < half ? both & 15 : both >> 4;
    scratch[i] = static_cast<float>(std::to_integer<int>(at.steps[chunk + c]) * q +
                                    std::to_integer<int>(at.steps[chunk + kBlockChannels + c]) - 128);
  }
  kernels.rotate(scratch, padded, host::rotation_block(padded));
  for (int64_t i = 0; i < layout_.cols; ++i) to[i] = scratch[i] * at.channel_scales[c];
}

Status fill_packed_weight(const WeightSource& source, WeightFormat format, const PackedLayout& layout,
                          const Kernels& kernels, ThreadPool& pool, std::byte* to) {
  const Packer packer(layout, kernels, to);
  const int64_t row_bytes = source.cols * static_cast<int64_t>(dtype_bytes(source.dtype));
  const host::RowTasks tasks(source, row_bytes, kBlockChannels, &pool);
  std::vector<PackScratch> scratch(static_cast<size_t>(tasks.num_threads()),
                                   PackScratch(layout.groups * kPackedColumns, tasks.max_rows() * row_bytes));
  const bool is_copied = layout.format == kPackedBf16 && source.dtype == DType::bf16;
  return tasks.run([&](int64_t first, int64_t count, int thread) -> Status {
    PackScratch& s = scratch[static_cast<size_t>(thread)];
    PAGODA_RETURN_IF_ERROR(source.read_rows(first, count, s.rows.data()));
    const std::byte* row = s.rows.data();
    for (int64_t n = first; n < first + count; ++n, row += row_bytes) {
      if (is_copied) {
        packer.copy(n, row, s);
        continue;
      }
      host::to_f32(row, source.dtype, source.cols, s.row.data());
      if (!packer.pack(n, s)) return host::does_not_fit(source, n, format);
    }
    return ok_status();
  });
}

Result<std::unique_ptr<Weight>> make_packed_weight(const WeightSource& source, WeightFormat format,
                                                   const Kernels& kernels, ThreadPool& pool) {
  PAGODA_RETURN_IF_ERROR(host::check_source(source));
  const PackedLayout layout = packed_layout(format, source.rows, source.cols, kernels.packed.run);
  PAGODA_ASSIGN_OR_RETURN(auto buffer,
                          host::make_buffer(static_cast<size_t>(layout.size_bytes), "weight " + source.name));
  PAGODA_RETURN_IF_ERROR(fill_packed_weight(source, format, layout, kernels, pool, buffer->host_pointer()));
  return std::unique_ptr<Weight>(new PackedWeight(layout, format, std::move(buffer)));
}

}  // namespace pagoda::device::cpu
