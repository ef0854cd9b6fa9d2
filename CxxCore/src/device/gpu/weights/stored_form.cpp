// Chooses the form of a format, and arranges its rows.
#include "device/gpu/weights/stored_form.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kChunk = 64;
constexpr uint32_t kMovedZero = 16;  // of codes of 4 bits minus the zero of their group
// Scales::kind, as in Shaders/stored.h
constexpr uint32_t kHasMins = 1, kTwoLevels = 2, kBfloats = 4, kWideGroups = 8, kSigned = 16, kFloats = 32,
                   kFloatCodes = 64;

// Eight codes of 4 bits in the order 0, 2, 4, 6, 1, 3, 5, 7.
void put_nibbles(const uint8_t* codes, std::byte* to) noexcept {
  uint64_t eight;
  std::memcpy(&eight, codes, 8);
  constexpr uint64_t kEven = 0x000f000f000f000f;
  uint64_t even = eight & kEven, odd = eight >> 8 & kEven;
  even |= even >> 12;
  odd |= odd >> 12;
  const auto word =
      static_cast<uint32_t>((even & 0xff) | (even >> 24 & 0xff00) | (odd & 0xff) << 16 | (odd >> 24 & 0xff00) << 16);
  std::memcpy(to, &word, 4);
}

// Codes of a chunk in the order of lanes: each has a quarter of every `kSpan` columns.
template <int kSpan>
void put_bytes(const uint8_t* columns, std::byte* to) noexcept {
  constexpr int kRun = kSpan / 4;
  for (int lane = 0; lane < 4; ++lane)
    for (int first = lane * kRun; first < kChunk; first += kSpan, to += kRun) std::memcpy(to, columns + first, kRun);
}

void put_codes(const StoredForm& form, const uint8_t* columns, std::byte* to) noexcept {
  if (form.bits == 4) {
    for (int lane = 0; lane < 4; ++lane, to += 8) {
      put_nibbles(columns + 8 * lane, to);
      put_nibbles(columns + 32 + 8 * lane, to + 4);
    }
    return;
  }
  if (form.span == 16) return put_bytes<16>(columns, to);
  put_bytes<32>(columns, to);
  if ((form.scales.kind & kFloatCodes) == 0) return;
  for (int i = 0; i < kChunk; i += 4) std::swap(to[i + 1], to[i + 2]);
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

bool is_wide(const QuantFormat& f) noexcept { return f.super == 0 && (f.group == 64 || f.group == 128); }

// Records of floats: also where 16 bits do not hold the product of a scale and a zero.
bool has_floats(const QuantFormat& f) noexcept { return is_wide(f) && (f.scale == ScaleType::f32 || f.has_zeros); }

// Otherwise zeros are subtracted from the codes.
bool has_mins(const QuantFormat& f) noexcept { return f.has_min && (!f.has_zeros || has_floats(f)); }

void put_one_level(const QuantFormat& f, const StoredForm& form, const StoredRow& row, int64_t cols,
                   uint16_t* to) noexcept {
  if (f.scale == ScaleType::e4m3) {
    std::memcpy(to, row.scales, static_cast<size_t>(cols / f.group));
    return;
  }
  if (has_floats(f)) {
    for (int64_t g = 0; g < cols / f.group; ++g, to += form.scales.words * 2) {
      const GroupScales both = group_scales(f, row, g);
      std::memcpy(to, &both, form.scales.words * 4);
    }
    return;
  }
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
  const auto groups = static_cast<size_t>(kChunk / f.group);  // of a chunk
  const std::byte *scales = row.scales, *mins = row.mins;
  for (int64_t super = 0; super < cols / f.super; ++super, to += form.scales.words * 4) {
    std::memcpy(to, row.supers + super * 2, 2);
    if (f.has_min) std::memcpy(to + 2, row.super_mins + super * 2, 2);
    std::byte* bytes = to + 4;
    for (int64_t chunk = 0; chunk < f.super; chunk += kChunk, bytes += form.scales.step * 4, scales += groups) {
      std::memcpy(bytes, scales, groups);
      if (!f.has_min) continue;
      std::memcpy(bytes + groups, mins, groups);
      mins += groups;
    }
  }
}

// Codes as kernels take them, from column `first` on.
void convert_codes(const QuantFormat& f, const StoredRow& row, int64_t first, int64_t count, uint8_t* to) noexcept {
  const uint8_t* table = f.table == CodeTable::curve ? kCurve : f.table == CodeTable::float4 ? kFloat4 : nullptr;
  const uint8_t* from = row.codes + first;
  for (int64_t i = 0; table != nullptr && i < count; ++i) to[i] = table[from[i] & 15];
  if (table != nullptr) return;
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<uint8_t>(from[i] + kMovedZero - std::to_integer<uint32_t>(row.mins[(first + i) / f.group]));
}

}  // namespace

std::optional<StoredForm> stored_form(const QuantFormat& f) noexcept {
  const bool moves_zeros = f.has_zeros && !has_floats(f);
  if (moves_zeros && f.bits > 4) return std::nullopt;
  const bool has_bytes = f.bits > 4 || f.table != CodeTable::none || f.group < 32 || moves_zeros;
  StoredForm form{has_bytes ? 8 : 4, f.group < 32 ? 16 : 32, {}};
  pagoda_args::Scales& s = form.scales;
  s.zero = moves_zeros ? kMovedZero : static_cast<uint32_t>(f.zero);
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
  if (f.scale == ScaleType::e4m3) {  // of groups of 16
    unit(kChunk);
    s.words = 1;
    return form;
  }
  if (f.group != 32 && !is_wide(f)) return std::nullopt;
  if (has_floats(f)) {
    unit(f.group);
    s.kind |= kFloats | (f.table == CodeTable::float8 ? kFloatCodes : 0);
    s.next = has_mins(f) ? 1 : 0;
    s.words = 1 + s.next;
    return form;
  }
  if (f.scale == ScaleType::f32) return std::nullopt;
  s.kind |= f.scale == ScaleType::f16 ? 0 : kBfloats;
  s.kind |= is_wide(f) ? kWideGroups : 0;
  unit(is_wide(f) ? f.group : kChunk);
  s.next = !is_wide(f) && has_mins(f) ? 1 : 0;
  s.words = 1 + s.next;
  return form;
}

void pack_stored(const QuantFormat& f, const StoredForm& form, const StoredRow& row, int64_t cols, std::byte* codes,
                 std::byte* records) noexcept {
  const bool moves_zeros = f.has_zeros && !has_floats(f);
  const bool is_converted = f.table == CodeTable::curve || f.table == CodeTable::float4 || moves_zeros;
  for (int64_t begin = 0; begin < cols; begin += kChunk, codes += kChunk * form.bits / 8) {
    const int64_t count = std::min(kChunk, cols - begin);
    uint8_t chunk[kChunk] = {};
    if (is_converted) convert_codes(f, row, begin, count, chunk);
    else if (count < kChunk) std::memcpy(chunk, row.codes + begin, static_cast<size_t>(count));
    put_codes(form, is_converted || count < kChunk ? chunk : row.codes + begin, codes);
  }
  if (f.super > 0) put_two_levels(f, form, row, cols, records);
  else put_one_level(f, form, row, cols, reinterpret_cast<uint16_t*>(records));
}

}  // namespace pagoda::device::gpu
