// The layout of GGUF's blocks. Their elements are described in types.cpp.
#include "io/gguf/stored.h"

#include <cstring>

namespace pagoda::io {
namespace {

constexpr int kSuper = 256;  // elements of a block of the K types

uint8_t byte(const std::byte* p) noexcept { return std::to_integer<uint8_t>(*p); }

// `count` bytes, a multiple of 8, hold the low nibbles of `count` codes, then the high ones. Eight at a time, because
// the compiler must assume that `to` overlaps `from`.
void nibbles(const std::byte* from, int count, uint8_t* to) noexcept {
  constexpr uint64_t kLow = 0x0f0f0f0f0f0f0f0f;
  for (int i = 0; i < count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, from + i, 8);
    const uint64_t low = eight & kLow, high = eight >> 4 & kLow;
    std::memcpy(to + i, &low, 8);
    std::memcpy(to + count + i, &high, 8);
  }
}
void fifth_bits(const std::byte* from, uint8_t* codes) noexcept {
  uint32_t bits;
  std::memcpy(&bits, from, 4);
  for (int i = 0; i < 32; ++i) codes[i] |= static_cast<uint8_t>((bits >> i & 1) << 4);
}
// Two bits of 128 codes in 32 bytes: four codes, 32 apart, share a byte.
void pairs(const std::byte* from, int shift, uint8_t* codes) noexcept {
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 32; ++i) codes[k * 32 + i] |= static_cast<uint8_t>((byte(from + i) >> (2 * k) & 3) << shift);
}
// One bit of 256 codes in 32 bytes: eight codes, 32 apart, share a byte.
void bits(const std::byte* from, int shift, uint8_t* codes) noexcept {
  for (int k = 0; k < 8; ++k)
    for (int i = 0; i < 32; ++i) codes[k * 32 + i] |= static_cast<uint8_t>((byte(from + i) >> k & 1) << shift);
}

// Where block `i` of a row goes.
struct Block {
  uint8_t* codes;
  std::byte *scales, *mins, *super, *super_min;
};

void copy2(const std::byte* from, std::byte* to) noexcept { std::memcpy(to, from, 2); }

void split_q4_0(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.scales);
  nibbles(b + 2, 16, to.codes);
}
void split_q4_1(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.scales);
  copy2(b + 2, to.mins);
  nibbles(b + 4, 16, to.codes);
}
void split_q5_0(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.scales);
  nibbles(b + 6, 16, to.codes);
  fifth_bits(b + 2, to.codes);
}
void split_q5_1(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.scales);
  copy2(b + 2, to.mins);
  nibbles(b + 8, 16, to.codes);
  fifth_bits(b + 4, to.codes);
}
void split_q8_0(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.scales);
  for (int i = 0; i < 32; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, b + 2 + i, 8);
    eight ^= 0x8080808080808080;
    std::memcpy(to.codes + i, &eight, 8);
  }
}
void split_mxfp4(const std::byte* b, const Block& to) noexcept {
  *to.scales = *b;
  nibbles(b + 1, 16, to.codes);
}
void split_q2_k(const std::byte* b, const Block& to) noexcept {
  for (int g = 0; g < 16; ++g) {
    to.scales[g] = b[g] & std::byte{15};
    to.mins[g] = b[g] >> 4;
  }
  std::memset(to.codes, 0, kSuper);
  for (int i = 0; i < 2; ++i) pairs(b + 16 + i * 32, 0, to.codes + i * 128);
  copy2(b + 80, to.super);
  copy2(b + 82, to.super_min);
}
void split_q3_k(const std::byte* b, const Block& to) noexcept {
  const std::byte* scales = b + 96;
  for (int g = 0; g < 16; ++g) {
    const int nibble = g < 8 ? byte(scales + g) & 15 : byte(scales + g - 8) >> 4;
    to.scales[g] = static_cast<std::byte>((nibble | (byte(scales + 8 + g % 4) >> (g / 4 * 2) & 3) << 4) - 32);
  }
  std::memset(to.codes, 0, kSuper);
  for (int i = 0; i < 2; ++i) pairs(b + 32 + i * 32, 0, to.codes + i * 128);
  bits(b, 2, to.codes);
  copy2(b + 108, to.super);
}
// 6-bit scales and minima of 8 groups in 12 bytes, the last four of each in the bits that the others leave free.
void scales_and_mins(const std::byte* packed, const Block& to) noexcept {
  for (int g = 0; g < 4; ++g) {
    to.scales[g] = packed[g] & std::byte{63};
    to.mins[g] = packed[g + 4] & std::byte{63};
    to.scales[g + 4] = (packed[g + 8] & std::byte{15}) | packed[g] >> 6 << 4;
    to.mins[g + 4] = packed[g + 8] >> 4 | packed[g + 4] >> 6 << 4;
  }
}
void split_q4_k(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.super);
  copy2(b + 2, to.super_min);
  scales_and_mins(b + 4, to);
  for (int i = 0; i < 4; ++i) nibbles(b + 16 + i * 32, 32, to.codes + i * 64);
}
void split_q5_k(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.super);
  copy2(b + 2, to.super_min);
  scales_and_mins(b + 4, to);
  for (int i = 0; i < 4; ++i) nibbles(b + 48 + i * 32, 32, to.codes + i * 64);
  bits(b + 16, 4, to.codes);
}
void split_q6_k(const std::byte* b, const Block& to) noexcept {
  for (int i = 0; i < 2; ++i) {
    nibbles(b + i * 64, 64, to.codes + i * 128);
    pairs(b + 128 + i * 32, 4, to.codes + i * 128);
  }
  std::memcpy(to.scales, b + 192, 16);
  copy2(b + 208, to.super);
}
void split_iq4_xs(const std::byte* b, const Block& to) noexcept {
  copy2(b, to.super);
  const int high_pairs = byte(b + 2) | byte(b + 3) << 8;
  for (int g = 0; g < 8; ++g) {
    const int nibble = g % 2 == 0 ? byte(b + 4 + g / 2) & 15 : byte(b + 4 + g / 2) >> 4;
    to.scales[g] = static_cast<std::byte>((nibble | (high_pairs >> (2 * g) & 3) << 4) - 32);
    nibbles(b + 8 + g * 16, 16, to.codes + g * 32);
  }
}

struct Splitter {
  uint32_t type_id;
  QuantId id, short_id;  // short_id: with upper scales repeated; of two levels only
  int block_bytes;
  void (*split)(const std::byte* block, const Block& to) noexcept;
};
using enum QuantId;
constexpr Splitter kSplitters[] = {
    {2, q4_0, q4_0, 18, split_q4_0},         {3, q4_1, q4_1, 20, split_q4_1},
    {6, q5_0, q5_0, 22, split_q5_0},         {7, q5_1, q5_1, 24, split_q5_1},
    {8, q8_0, q8_0, 34, split_q8_0},         {10, q2_k, q2_k_short, 84, split_q2_k},
    {11, q3_k, q3_k_short, 110, split_q3_k}, {12, q4_k, q4_k_short, 144, split_q4_k},
    {13, q5_k, q5_k_short, 176, split_q5_k}, {14, q6_k, q6_k_short, 210, split_q6_k},
    {20, iq4_nl, iq4_nl, 18, split_q4_0},    {23, iq4_xs, iq4_xs_short, 136, split_iq4_xs},
    {39, mxfp4, mxfp4, 17, split_mxfp4},
};

const Splitter* find(uint32_t type_id) noexcept {
  for (const Splitter& s : kSplitters)
    if (s.type_id == type_id) return &s;
  return nullptr;
}

}  // namespace

std::optional<WeightFormat> gguf_format(uint32_t type_id) noexcept {
  constexpr struct {
    uint32_t type_id;
    WeightFormat format;
  } kFloats[] = {{0, WeightFormat::f32}, {1, WeightFormat::f16}, {30, WeightFormat::bf16}};
  for (const auto& f : kFloats)
    if (f.type_id == type_id) return f.format;
  const Splitter* s = find(type_id);
  if (s == nullptr) return std::nullopt;
  return weight_format(s->id);
}

std::optional<WeightFormat> gguf_format(uint32_t type_id, int64_t run) noexcept {
  const std::optional<WeightFormat> format = gguf_format(type_id);
  if (!format || !is_stored(*format)) return format;
  const Splitter* s = find(type_id);
  for (const QuantId id : {s->id, s->short_id})
    if (run % quant_format(weight_format(id)).unit() == 0) return weight_format(id);
  return std::nullopt;
}

void split_gguf_row(uint32_t type_id, const std::byte* blocks, int64_t cols, const StoredRow& row) noexcept {
  const Splitter& s = *find(type_id);
  const QuantFormat& f = quant_format(weight_format(s.id));
  const int size = f.unit(), scale_bytes = size / f.group * f.scale_bytes();
  for (int64_t i = 0; i < cols / size; ++i)
    s.split(blocks + i * s.block_bytes, {row.codes + i * size, row.scales + i * scale_bytes, row.mins + i * scale_bytes,
                                         row.supers + i * 2, row.super_mins + i * 2});
}

void reorder_gguf_row(uint32_t type_id, const QuantFormat& wanted, const StoredRow& from,
                      std::span<const uint32_t> columns, const StoredRow& to) noexcept {
  const QuantFormat& f = quant_format(weight_format(find(type_id)->id));
  const auto scale_bytes = static_cast<size_t>(f.scale_bytes());
  const auto group = static_cast<size_t>(f.group);
  for (size_t i = 0; i < columns.size(); i += group) {
    const size_t source = columns[i], at = i / group * scale_bytes, scale_at = source / group * scale_bytes;
    std::memcpy(to.codes + i, from.codes + source, group);
    std::memcpy(to.scales + at, from.scales + scale_at, scale_bytes);
    if (f.has_min) std::memcpy(to.mins + at, from.mins + scale_at, scale_bytes);
    if (f.super == 0 || i % static_cast<size_t>(wanted.super) != 0) continue;
    const size_t super = i / static_cast<size_t>(wanted.super) * 2,
                 super_at = source / static_cast<size_t>(f.super) * 2;
    copy2(from.supers + super_at, to.supers + super);
    if (f.has_min) copy2(from.super_mins + super_at, to.super_mins + super);
  }
}

}  // namespace pagoda::io
