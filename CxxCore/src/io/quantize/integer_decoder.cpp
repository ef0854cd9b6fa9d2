// Reads the rows of a few channels, which GPTQ and AWQ store as columns: a slice of every line of the file.
#include "io/quantize/integer_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/quant/stored_row.h"
#include "io/quantize/stored.h"

namespace pagoda::io {
namespace {

// Of row r within a word of AWQ.
constexpr uint32_t kAwqShift[] = {0, 16, 4, 20, 8, 24, 12, 28};

// Lines of a tensor [lines][width] of elements of `bytes` bytes: elements [begin, end) of each line, line after line.
Status read_slice(const File& file, const TensorEntry& entry, uint64_t begin, uint64_t end, uint64_t bytes,
                  std::vector<std::byte>& into) {
  const uint64_t lines = static_cast<uint64_t>(entry.shape[0]), width = static_cast<uint64_t>(entry.shape[1]);
  const uint64_t size = (end - begin) * bytes;
  into.resize(lines * size);
  for (uint64_t line = 0; line < lines; ++line)
    PAGODA_RETURN_IF_ERROR(
        file.read(entry.offset_bytes + (line * width + begin) * bytes, std::span(into).subspan(line * size, size)));
  return ok_status();
}

uint32_t word_at(const std::vector<std::byte>& bytes, uint64_t index) noexcept {
  uint32_t word;
  std::memcpy(&word, bytes.data() + index * 4, 4);
  return word;
}

}  // namespace

struct IntegerDecoder::Rows {
  uint64_t first, count;
  std::vector<StoredRow> at;
  uint64_t repeats;  // groups of the format per group of the file
};

Status IntegerDecoder::read_codes(const Rows& rows) const {
  const auto bits = static_cast<uint32_t>(m_.packing.bits), per_word = 32 / bits, mask = (1u << bits) - 1;
  std::vector<std::byte> raw;
  if (!is_transposed()) {
    const uint64_t row_bytes = m_.cols * bits / 8;
    raw.resize(rows.count * row_bytes + kSpareBytes);
    PAGODA_RETURN_IF_ERROR(m_.weight_file->read(m_.weight.offset_bytes + rows.first * row_bytes,
                                                std::span(raw).first(rows.count * row_bytes)));
    for (uint64_t i = 0; i < rows.count; ++i) {
      unpack_codes(raw.data() + i * row_bytes, m_.packing.bits, m_.cols, rows.at[i].codes);
      if (m_.packing.layout == IntegerLayout::bytes)
        for (uint64_t k = 0; k < m_.cols; ++k) rows.at[i].codes[k] ^= 0x80;
    }
    return ok_status();
  }
  const bool is_awq = m_.packing.layout == IntegerLayout::awq;
  const uint64_t begin = is_awq ? rows.first / 8 : rows.first,
                 end = is_awq ? (rows.first + rows.count + 7) / 8 : rows.first + rows.count;
  PAGODA_RETURN_IF_ERROR(read_slice(*m_.weight_file, m_.weight, begin, end, 4, raw));
  for (uint64_t i = 0; i < rows.count; ++i)
    for (uint64_t k = 0; k < m_.cols; ++k) {
      const uint64_t row = rows.first + i;
      const uint32_t shift = is_awq ? kAwqShift[row % 8] : static_cast<uint32_t>(k % per_word) * bits;
      const uint64_t at = is_awq ? k * (end - begin) + row / 8 - begin : k / per_word * (end - begin) + i;
      rows.at[i].codes[k] = static_cast<uint8_t>(word_at(raw, at) >> shift & mask);
    }
  return ok_status();
}

Status IntegerDecoder::read_scales(const Rows& rows) const {
  std::vector<std::byte> raw;
  if (is_transposed()) {
    PAGODA_RETURN_IF_ERROR(read_slice(*m_.scales_file, m_.scales, rows.first, rows.first + rows.count, 2, raw));
  } else {
    raw.resize(rows.count * m_.groups * 2);
    PAGODA_RETURN_IF_ERROR(m_.scales_file->read(m_.scales.offset_bytes + rows.first * m_.groups * 2, raw));
  }
  for (uint64_t i = 0; i < rows.count; ++i)
    for (uint64_t g = 0; g < m_.groups * rows.repeats; ++g) {
      const uint64_t group = g / rows.repeats;
      const uint64_t at = is_transposed() ? group * rows.count + i : i * m_.groups + group;
      std::memcpy(rows.at[i].scales + g * 2, raw.data() + at * 2, 2);
    }
  return ok_status();
}

Status IntegerDecoder::read_zeros(const Rows& rows) const {
  const auto bits = static_cast<uint32_t>(m_.packing.bits), per_word = 32 / bits, mask = (1u << bits) - 1;
  const uint64_t first = rows.first / per_word, words = (rows.first + rows.count - 1) / per_word - first + 1;
  std::vector<std::byte> raw;
  if (m_.packing.layout == IntegerLayout::bytes || m_.packing.layout == IntegerLayout::packed) {
    const bool is_packed = m_.packing.layout == IntegerLayout::packed;
    const uint64_t line = m_.groups * (is_packed ? 4 : 1);
    raw.resize((is_packed ? words : rows.count) * line);
    PAGODA_RETURN_IF_ERROR(m_.zeros_file->read(m_.zeros->offset_bytes + (is_packed ? first : rows.first) * line, raw));
  } else {
    PAGODA_RETURN_IF_ERROR(read_slice(*m_.zeros_file, *m_.zeros, first, first + words, 4, raw));
  }
  const auto zero_of = [&](uint64_t i, uint64_t group) -> uint32_t {
    const uint64_t row = rows.first + i, word = row / per_word - first;
    const auto shift = static_cast<uint32_t>(row % per_word) * bits;
    switch (m_.packing.layout) {
      case IntegerLayout::bytes: return std::to_integer<uint32_t>(raw[i * m_.groups + group]) ^ 0x80;
      case IntegerLayout::packed: return word_at(raw, word * m_.groups + group) >> shift & mask;
      case IntegerLayout::awq: return word_at(raw, group * words + word) >> kAwqShift[row % 8] & mask;
      default: return ((word_at(raw, group * words + word) >> shift & mask) + m_.packing.adds_one) & mask;
    }
  };
  for (uint64_t i = 0; i < rows.count; ++i)
    for (uint64_t g = 0; g < m_.groups * rows.repeats; ++g)
      rows.at[i].mins[g] = static_cast<std::byte>(zero_of(i, g / rows.repeats));
  return ok_status();
}

Status IntegerDecoder::read_stored(uint64_t first, uint64_t count, std::span<std::byte> into) const {
  if (count == 0) return ok_status();
  const QuantFormat& format = quant_format(m_.format);
  const auto cols = static_cast<int64_t>(m_.cols);
  Rows rows{first, count, {}, m_.cols / m_.groups / static_cast<uint64_t>(format.group)};
  for (uint64_t i = 0; i < count; ++i)
    rows.at.push_back(stored_row(format, cols, into.data() + i * (into.size() / count)));
  PAGODA_RETURN_IF_ERROR(read_codes(rows));
  PAGODA_RETURN_IF_ERROR(read_scales(rows));
  return m_.zeros ? read_zeros(rows) : ok_status();
}

Status IntegerDecoder::read(uint64_t begin, std::span<float> into) const {
  constexpr uint64_t kAtOnce = 64;  // rows
  const QuantFormat& format = quant_format(m_.format);
  const auto cols = static_cast<int64_t>(m_.cols);
  const size_t row_bytes = stored_row_bytes(format, cols);
  std::vector<std::byte> stored;
  const uint64_t end = (begin + into.size()) / m_.cols;
  for (uint64_t first = begin / m_.cols, count = 0; first < end; first += count) {
    count = std::min(kAtOnce, end - first);
    stored.resize(count * row_bytes);
    PAGODA_RETURN_IF_ERROR(read_stored(first, count, stored));
    for (uint64_t i = 0; i < count; ++i)
      dequantise(format, stored_row(format, cols, stored.data() + i * row_bytes), cols,
                 into.data() + ((first + i) * m_.cols - begin));
  }
  return ok_status();
}

}  // namespace pagoda::io
