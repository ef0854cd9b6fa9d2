// Chooses the form of a format, and arranges its rows.
#include "device/gpu/weights/stored_form.h"

#include <bit>
#include <cstring>

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kChunk = 64;
constexpr uint32_t kMovedZero = 16;  // of codes of 4 bits minus the zero of their group
// Scales::kind, as in Shaders/stored.h
constexpr uint32_t kHasMins = 1, kTwoLevels = 2, kBfloats = 4, kWideGroups = 8, kSigned = 16;

// The column of code `n` of the four lanes' 16 codes in a chunk.
int64_t column_of(const StoredForm& form, int64_t n) noexcept {
  const int64_t lane = n / 16, run = form.span / 4;
  return n % 16 / run * form.span + lane * run + n % run;
}

void put_codes(const StoredForm& form, const uint8_t (&codes)[kChunk], std::byte* to) noexcept {
  if (form.bits == 8) {
    std::memcpy(to, codes, kChunk);
    return;
  }
  for (const uint8_t* from = codes; from < codes + kChunk; from += 8)  // in the order 0, 2, 4, 6, 1, 3, 5, 7
    for (const int odd : {0, 1}) {
      *to++ = static_cast<std::byte>(from[odd] | from[odd + 2] << 4);
      *to++ = static_cast<std::byte>(from[odd + 4] | from[odd + 6] << 4);
    }
}

// A scale or minimum of one level as the 16 bits of its type.
uint16_t number_of(const QuantFormat& f, const std::byte* at, int64_t index) noexcept {
  if (f.scale == ScaleType::e8m0) {
    const auto e = std::to_integer<uint32_t>(at[index]);
    return static_cast<uint16_t>((e < 2 ? 0x00200000u << e : (e - 1) << 23) >> 16);
  }
  uint16_t bits;
  std::memcpy(&bits, at + index * 2, 2);
  return bits;
}

// 16 bits do not hold the product of a scale and a zero: zeros are subtracted from the codes.
bool has_mins(const QuantFormat& f) noexcept { return f.has_min && !f.has_zeros; }

void put_one_level(const QuantFormat& f, const StoredForm& form, const StoredRow& row, int64_t cols,
                   uint16_t* to) noexcept {
  if ((form.scales.kind & kWideGroups) != 0) {
    for (int64_t g = 0; g < cols / f.group; ++g) {
      *to++ = number_of(f, row.scales, g);
      *to++ = has_mins(f) ? number_of(f, row.mins, g) : 0;
    }
    return;
  }
  for (int64_t g = 0; g < cols / f.group; ++g) {
    uint16_t* record = to + g / 2 * form.scales.words * 2;
    record[g % 2] = number_of(f, row.scales, g);
    if (has_mins(f)) record[2 + g % 2] = number_of(f, row.mins, g);
  }
}

// Bytes of a chunk: its scales, from the next multiple of 4 (groups of 16) or 2 on its minima.
void put_two_levels(const QuantFormat& f, const StoredForm& form, const StoredRow& row, int64_t cols,
                    std::byte* to) noexcept {
  const int64_t chunk_groups = kChunk / f.group, super_groups = f.super / f.group;
  for (int64_t g = 0; g < cols / f.group; ++g) {
    const int64_t super = g / super_groups, chunk = g % super_groups / chunk_groups;
    std::byte* record = to + super * form.scales.words * 4;
    std::byte* bytes = record + 4 + chunk * form.scales.step * 4 + g % chunk_groups;
    std::memcpy(record, row.supers + super * 2, 2);
    *bytes = row.scales[g];
    if (!f.has_min) continue;
    std::memcpy(record + 2, row.super_mins + super * 2, 2);
    bytes[chunk_groups] = row.mins[g];
  }
}

uint8_t code_of(const QuantFormat& f, const StoredRow& row, const uint8_t* table, int64_t column) noexcept {
  if (table != nullptr) return table[row.codes[column] & 15];
  if (!f.has_zeros) return row.codes[column];
  return static_cast<uint8_t>(row.codes[column] + kMovedZero - std::to_integer<uint32_t>(row.mins[column / f.group]));
}

}  // namespace

std::optional<StoredForm> stored_form(const QuantFormat& f) noexcept {
  if (f.scale == ScaleType::f32 || f.scale == ScaleType::e4m3 || (f.has_zeros && f.bits > 4)) return std::nullopt;
  const bool has_bytes = f.bits > 4 || f.table != CodeTable::none || f.group < 32 || f.has_zeros;
  StoredForm form{has_bytes ? 8 : 4, f.group < 32 ? 16 : 32, {}};
  pagoda_args::Scales& s = form.scales;
  s.zero = f.has_zeros ? kMovedZero : static_cast<uint32_t>(f.zero);
  s.kind = has_mins(f) ? kHasMins : 0;
  const auto unit = [&](int columns) {
    s.log_unit = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(columns)));
  };
  if (f.super > 0) {
    if (f.super % kChunk != 0 || !std::has_single_bit(static_cast<uint32_t>(f.super)) || f.group > 32)
      return std::nullopt;
    unit(f.super);
    s.kind |= kTwoLevels | (f.scale == ScaleType::i8 ? kSigned : 0);
    s.next = 1;
    s.step = f.has_min && f.group == 16 ? 2 : 1;
    s.words = static_cast<uint32_t>(1 + f.super / kChunk * s.step);
    return form;
  }
  s.kind |= f.scale == ScaleType::f16 ? 0 : kBfloats;
  const bool is_wide = f.group == 64 || f.group == 128;
  if (f.group != 32 && !is_wide) return std::nullopt;
  s.kind |= is_wide ? kWideGroups : 0;
  unit(is_wide ? f.group : kChunk);
  s.next = !is_wide && has_mins(f) ? 1 : 0;
  s.words = 1 + s.next;
  return form;
}

void pack_stored(const QuantFormat& f, const StoredForm& form, const StoredRow& row, int64_t cols, std::byte* codes,
                 std::byte* records) noexcept {
  const uint8_t* table = f.table == CodeTable::curve ? kCurve : f.table == CodeTable::float4 ? kFloat4 : nullptr;
  int64_t columns[kChunk];
  for (int64_t n = 0; n < kChunk; ++n) columns[n] = column_of(form, n);
  for (int64_t begin = 0; begin < cols; begin += kChunk, codes += kChunk * form.bits / 8) {
    uint8_t chunk[kChunk] = {};
    for (int64_t n = 0; n < kChunk; ++n) {
      const int64_t column = begin + columns[n];
      if (column < cols) chunk[n] = code_of(f, row, table, column);
    }
    put_codes(form, chunk, codes);
  }
  if (f.super > 0) put_two_levels(f, form, row, cols, records);
  else put_one_level(f, form, row, cols, reinterpret_cast<uint16_t*>(records));
}

}  // namespace pagoda::device::gpu
