// Converts and quantises single rows.
#include "device/gpu/weights/row_packer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/concat.h"
#include "device/host/host_weight.h"
#include "device/host/quantise.h"

namespace pagoda::device::gpu {
namespace {

// Returns false if a finite number became infinite.
bool pack_16bit(std::span<const float> row, WeightFormat format, std::byte* to) noexcept {
  const uint16_t infinity = format == WeightFormat::f16 ? 0x7c00 : 0x7f80;
  bool fits = true;
  for (size_t i = 0; i < row.size(); ++i) {
    const uint16_t bits = format == WeightFormat::f16 ? f32_to_f16(row[i]) : f32_to_bf16(row[i]);
    std::memcpy(to + 2 * i, &bits, 2);
    fits = fits && ((bits & 0x7fff) != infinity || std::isinf(row[i]));
  }
  return fits;
}

bool pack_4bit(std::vector<uint8_t>& nibbles, std::span<const float> row, size_t padded_cols, const RowPlace& to,
               float& scale) {
  nibbles.assign(padded_cols, 0);
  if (!host::quantise_4bit(row, nibbles.data(), reinterpret_cast<host::Steps*>(to.steps), scale)) return false;
  const uint8_t* from = nibbles.data();
  std::byte* next = to.rows;
  for (size_t i = 0; i < padded_cols; i += 8, from += 8)  // in the order 0, 2, 4, 6, 1, 3, 5, 7
    for (const size_t odd : {0, 1}) {
      *next++ = static_cast<std::byte>(from[odd] | from[odd + 2] << 4);
      *next++ = static_cast<std::byte>(from[odd + 4] | from[odd + 6] << 4);
    }
  return true;
}

// Sign and magnitude, in the order 0, 2, 1, 3.
bool pack_8bit(std::span<const float> row, const RowPlace& place, float& scale) {
  std::byte* to = place.rows;
  auto* shifts = reinterpret_cast<uint8_t*>(place.steps);
  if (!host::quantise_8bit_groups(row, reinterpret_cast<int8_t*>(to), shifts, scale)) return false;
  for (size_t i = 0; i < row.size(); i += 4) {
    std::swap(to[i + 1], to[i + 2]);
    for (size_t j = i; j < i + 4; ++j) {
      const auto value = static_cast<int8_t>(to[j]);
      if (value < 0) to[j] = static_cast<std::byte>(128 - value);
    }
  }
  return true;
}

}  // namespace

bool RowPacker::is_copied() const noexcept { return !is_quantised(format_) && weight_format(source_.dtype) == format_; }

// Rows of the same type need no floats in between, and without padding not even a copy.
Status RowPacker::copy(int64_t begin, int64_t count, Scratch& scratch, std::byte* to) const {
  const int64_t row_bytes = source_row_bytes();
  if (row_bytes == layout_.row_bytes) return source_.read_rows(begin, count, to);
  scratch.source.resize(static_cast<size_t>(count * row_bytes));
  PAGODA_RETURN_IF_ERROR(source_.read_rows(begin, count, scratch.source.data()));
  for (int64_t i = 0; i < count; ++i, to += layout_.row_bytes) {
    std::memcpy(to, scratch.source.data() + i * row_bytes, static_cast<size_t>(row_bytes));
    std::memset(to + row_bytes, 0, static_cast<size_t>(layout_.row_bytes - row_bytes));
  }
  return ok_status();
}

// Rows of a stored format.
Status RowPacker::arrange(int64_t begin, int64_t count, Scratch& scratch, const RowPlace& to) const {
  const QuantFormat& format = quant_format(format_);
  const StoredForm form = *stored_form(format);
  const int64_t row_bytes = source_row_bytes();
  scratch.source.resize(static_cast<size_t>(count * row_bytes));
  PAGODA_RETURN_IF_ERROR(source_.read_stored(begin, count, scratch.source));
  std::memset(to.rows, 0, static_cast<size_t>(count * layout_.row_bytes));
  std::memset(to.steps, 0, static_cast<size_t>(count * layout_.step_bytes));
  for (int64_t i = 0; i < count; ++i) {
    const RowPlace place = to.after(i, layout_);
    pack_stored(format, form, stored_row(format, source_.cols, scratch.source.data() + i * row_bytes), source_.cols,
                place.rows, place.steps);
  }
  return ok_status();
}

// Packs scratch.row, and zeros after its last column, which do not affect the scales of groups.
bool RowPacker::pack_row(Scratch& scratch, const RowPlace& to) const {
  const std::span<const float> row = std::span(scratch.row).first(static_cast<size_t>(source_.cols));
  float scale = 0;
  bool fits = true;
  if (is_quantised(format_)) std::memset(to.rows, 0, static_cast<size_t>(layout_.row_bytes));
  std::memset(to.steps, 0, static_cast<size_t>(layout_.step_bytes));
  switch (format_) {
    case WeightFormat::f32: std::memcpy(to.rows, scratch.row.data(), static_cast<size_t>(layout_.row_bytes)); break;
    case WeightFormat::q8: fits = pack_8bit(row, to, scale); break;
    case WeightFormat::q4: fits = pack_4bit(scratch.nibbles, row, scratch.row.size(), to, scale); break;
    default: fits = pack_16bit(scratch.row, format_, to.rows);
  }
  std::memcpy(to.scales, &scale, static_cast<size_t>(layout_.scale_bytes));
  return fits;
}

Status RowPacker::pack(int64_t begin, int64_t count, Scratch& scratch, RowPlace to) const {
  if (pagoda::is_stored(format_)) return arrange(begin, count, scratch, to);
  if (is_copied()) return copy(begin, count, scratch, to.rows);
  const int64_t row_bytes = source_row_bytes();
  scratch.source.resize(static_cast<size_t>(count * row_bytes));
  PAGODA_RETURN_IF_ERROR(source_.read_rows(begin, count, scratch.source.data()));
  for (int64_t i = 0; i < count; ++i) {
    scratch.row.assign(static_cast<size_t>(layout_.padded_cols), 0.0f);
    host::to_f32(scratch.source.data() + i * row_bytes, source_.dtype, source_.cols, scratch.row.data());
    if (!pack_row(scratch, to.after(i, layout_)))
      return make_error(StatusCode::unsupported,
                        concat("weight ", source_.name, ": row ", begin + i, " has a number that ",
                               weight_format_name(format_), " cannot hold"));
  }
  return ok_status();
}

}  // namespace pagoda::device::gpu
