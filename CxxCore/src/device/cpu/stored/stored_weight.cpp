// Arranges stored rows in blocks, and reads single rows back.
#include "device/cpu/stored/stored_weight.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/assign_or_return.h"
#include "base/quant/stored_row.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"
#include "device/host/row_tasks.h"

namespace pagoda::device::cpu {
namespace {

int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

uint32_t word(const uint8_t* codes) noexcept {  // four codes
  uint32_t four;
  std::memcpy(&four, codes, 4);
  return four;
}

// Columns 0, 2, 1, 3 of 8-bit floats (kernels/float8.h); its own inverse.
uint32_t swapped(uint32_t four) noexcept { return (four & 0xff0000ff) | (four & 0xff00) << 8 | (four >> 8 & 0xff00); }

// Writes the 32 codes of a channel to their place in the planes of a chunk, which begins at this channel's first bytes.
void put_codes(const QuantFormat& f, const uint8_t* codes, std::byte* to) noexcept {
  const int bits = f.bits;
  const auto put = [&](int line, uint32_t four) { std::memcpy(to + line * 64, &four, 4); };
  if (bits == 8)
    for (int l = 0; l < 8; ++l)
      put(l, f.table == CodeTable::float8 ? swapped(word(codes + 4 * l)) : word(codes + 4 * l));
  const bool has_nibbles = bits >= 4 && bits <= 6, has_pairs = bits == 2 || bits == 3 || bits == 6;
  if (has_nibbles) {
    for (int l = 0; l < 4; ++l)
      put(l, (word(codes + 4 * l) & 0x0f0f0f0f) | (word(codes + 16 + 4 * l) & 0x0f0f0f0f) << 4);
    to += 256;
  }
  if (has_pairs) {
    for (int h = 0; h < 2; ++h) {
      uint32_t pairs = 0;
      for (int l = 0; l < 4; ++l)
        pairs |= (word(codes + 16 * h + 4 * l) >> (bits == 6 ? 4 : 0) & 0x03030303) << (2 * l);
      put(h, pairs);
    }
    to += 128;
  }
  if (bits == 3 || bits == 5) {
    uint32_t single = 0;
    for (int l = 0; l < 8; ++l) single |= (word(codes + 4 * l) >> (bits - 1) & 0x01010101) << l;
    put(0, single);
  }
}

// The inverse for one code, `column` of 32.
int get_code(const QuantFormat& f, const std::byte* from, int64_t column) noexcept {
  const int bits = f.bits;
  if (f.table == CodeTable::float8 && (column % 4 == 1 || column % 4 == 2)) column ^= 3;
  const int64_t line = column / 4;
  const auto at = [&](int64_t l) { return std::to_integer<int>(from[l * 64 + column % 4]); };
  if (bits == 8) return at(line);
  int code = 0;
  if (bits >= 4) {
    code = line < 4 ? at(line) & 15 : at(line - 4) >> 4;
    from += 256;
  }
  if (bits == 2 || bits == 3 || bits == 6) {
    code |= (at(line / 4) >> (line % 4 * 2) & 3) << (bits == 6 ? 4 : 0);
    from += 128;
  }
  if (bits == 3 || bits == 5) code |= (at(0) >> line & 1) << (bits - 1);
  return code;
}

class Arranger {
 public:
  Arranger(const StoredLayout& layout, std::byte* data) noexcept : l_(layout), f_(*layout.format), data_(data) {}

  void put(int64_t n, const StoredRow& row) const noexcept {
    std::byte* codes = codes_of(n);
    for (int64_t i = 0; i < l_.cols; i += 32, codes += chunk_bytes(f_)) put_codes(f_, row.codes + i, codes);
    std::byte* scales = scales_of(n);
    if (f_.scale == ScaleType::nibbles)
      for (int64_t g = 0; g < l_.cols / f_.group; ++g)
        scales[g * kBlockChannels + n % kBlockChannels] = row.scales[g] | row.mins[g] << 4;
    each_number(n, row,
                [](const std::byte* in_row, std::byte* in_block, size_t size) { std::memcpy(in_block, in_row, size); });
  }

  // The inverse of put().
  void get(int64_t n, const StoredRow& row) const noexcept {
    const std::byte* codes = codes_of(n);
    for (int64_t i = 0; i < l_.cols; ++i)
      row.codes[i] = static_cast<uint8_t>(get_code(f_, codes + i / 32 * chunk_bytes(f_), i % 32));
    const std::byte* scales = scales_of(n);
    for (int64_t g = 0; f_.scale == ScaleType::nibbles && g < l_.cols / f_.group; ++g) {
      const std::byte both = scales[g * kBlockChannels + n % kBlockChannels];
      row.scales[g] = both & std::byte{15};
      row.mins[g] = both >> 4;
    }
    each_number(n, row,
                [](std::byte* in_row, const std::byte* in_block, size_t size) { std::memcpy(in_row, in_block, size); });
  }

 private:
  std::byte* codes_of(int64_t n) const noexcept {
    return data_ + n / kBlockChannels * l_.code_bytes + n % kBlockChannels * 4;
  }
  std::byte* scales_of(int64_t n) const noexcept { return data_ + l_.scales_at + n / kBlockChannels * l_.scale_bytes; }

  // Calls move(place in the row, place in the block, bytes) for every number of scales, other than nibbles.
  template <class Move>
  void each_number(int64_t n, const StoredRow& row, Move&& move) const noexcept {
    const auto each = [&](int64_t count, int64_t size, std::byte* numbers, std::byte* block, int64_t stride) {
      for (int64_t i = 0; i < count; ++i)
        move(numbers + i * size, block + i * stride + n % kBlockChannels * size, static_cast<size_t>(size));
    };
    const int64_t groups = l_.cols / f_.group, size = f_.scale_bytes(), stride = group_bytes(f_);
    std::byte *scales = scales_of(n), *supers = scales + groups * stride;
    if (f_.scale != ScaleType::nibbles) {
      each(groups, size, row.scales, scales, stride);
      each(f_.has_min ? groups : 0, f_.min_bytes(), row.mins, scales + kBlockChannels * size, stride);
    }
    if (f_.super == 0) return;
    each(l_.cols / f_.super, 2, row.supers, supers, super_bytes(f_));
    if (f_.has_min) each(l_.cols / f_.super, 2, row.super_mins, supers + kBlockChannels * 2, super_bytes(f_));
  }

  const StoredLayout& l_;
  const QuantFormat& f_;
  std::byte* data_;
};

}  // namespace

StoredLayout stored_layout(WeightFormat format, int64_t rows, int64_t cols) noexcept {
  const QuantFormat& f = quant_format(format);
  StoredLayout l{&f, rows, cols, round_up(rows, kBlockChannels) / kBlockChannels, 0, 0, 0, 0};
  l.code_bytes = cols / 32 * chunk_bytes(f);
  l.scale_bytes = block_scale_bytes(f, cols);
  l.scales_at = l.blocks * l.code_bytes;
  l.size_bytes = l.scales_at + l.blocks * l.scale_bytes;
  return l;
}

void StoredWeight::place(int64_t block, StoredTile& tile) const noexcept {
  tile.format = layout_.format;
  tile.codes = data_ + block * layout_.code_bytes;
  tile.code_bytes = layout_.code_bytes;
  tile.scales = data_ + layout_.scales_at + block * layout_.scale_bytes;
  tile.scale_bytes = layout_.scale_bytes;
  tile.cols = layout_.cols;
}

void StoredWeight::load_row(int64_t row, std::byte* scratch, float* to) const noexcept {
  const StoredRow stored = stored_row(*layout_.format, layout_.cols, scratch);
  Arranger(layout_, const_cast<std::byte*>(data_)).get(row, stored);
  dequantise(*layout_.format, stored, layout_.cols, to);
}

Status fill_stored_weight(const WeightSource& source, const StoredLayout& layout, ThreadPool& pool, std::byte* to) {
  const Arranger arranger(layout, to);
  const auto row_bytes = static_cast<int64_t>(stored_row_bytes(*layout.format, source.cols));
  const host::RowTasks tasks(source, row_bytes, kBlockChannels, &pool);
  std::vector<std::vector<std::byte>> buffers(static_cast<size_t>(tasks.num_threads()));
  for (auto& of_thread : buffers) of_thread.resize(static_cast<size_t>(tasks.max_rows() * row_bytes));
  return tasks.run([&](int64_t first, int64_t count, int thread) -> Status {
    const std::span<std::byte> rows =
        std::span(buffers[static_cast<size_t>(thread)]).first(static_cast<size_t>(count * row_bytes));
    PAGODA_RETURN_IF_ERROR(source.read_stored(first, count, rows));
    for (int64_t i = 0; i < count; ++i)
      arranger.put(first + i, stored_row(*layout.format, source.cols, rows.data() + i * row_bytes));
    return ok_status();
  });
}

Result<std::unique_ptr<Weight>> make_stored_weight(const WeightSource& source, WeightFormat format, ThreadPool& pool) {
  PAGODA_RETURN_IF_ERROR(host::check_stored_source(source, format));
  const StoredLayout layout = stored_layout(format, source.rows, source.cols);
  PAGODA_ASSIGN_OR_RETURN(auto buffer,
                          host::make_buffer(static_cast<size_t>(layout.size_bytes), "weight " + source.name));
  PAGODA_RETURN_IF_ERROR(fill_stored_weight(source, layout, pool, buffer->host_pointer()));
  return std::unique_ptr<Weight>(new StoredWeight(format, layout, std::move(buffer)));
}

}  // namespace pagoda::device::cpu
