// Lookups in the generated Unicode tables, and the only UTF-8 decoder.
#include "text/unicode/unicode.h"

#include <algorithm>
#include <iterator>

namespace pagoda::text {

namespace {

// Characters first, first + step, ..., last.
struct StepRange {
  char32_t first, last, step;
};

#include "text/unicode/unicode_ranges.inc"
#include "text/unicode/unicode_tables.inc"

constexpr char32_t kBlockSize = sizeof(kBlockFlags[0]);

// `ranges` are sorted and do not overlap.
template <size_t N>
bool is_in(char32_t c, const StepRange (&ranges)[N]) noexcept {
  const auto* after = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                       [](char32_t value, const StepRange& r) { return value < r.first; });
  return after != std::begin(ranges) && c <= after[-1].last && (c - after[-1].first) % after[-1].step == 0;
}

}  // namespace

bool is_upper(char32_t c) noexcept { return is_in(c, kUpperSteps); }
bool is_lower(char32_t c) noexcept { return is_in(c, kLowerSteps); }
bool is_han(char32_t c) noexcept { return is_in(c, kHanSteps); }

uint8_t char_flags(char32_t c) noexcept { return kBlockFlags[kBlockOf[c / kBlockSize]][c % kBlockSize]; }

uint8_t combining_class(char32_t c) noexcept {
  const auto* range = std::upper_bound(std::begin(kCombiningRanges), std::end(kCombiningRanges), c,
                                       [](char32_t value, const CombiningRange& r) { return value < r.first; });
  if (range == std::begin(kCombiningRanges) || c > range[-1].last) return 0;
  return range[-1].combining_class;
}

const Decomposition* find_decomposition(char32_t c) noexcept {
  const auto* row = std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), c,
                                     [](const Decomposition& d, char32_t value) { return d.composed < value; });
  return row != std::end(kDecompositions) && row->composed == c ? row : nullptr;
}

char32_t find_composition(char32_t first, char32_t second) noexcept {
  const auto key = [](char32_t a, char32_t b) { return uint64_t{a} << 32 | b; };
  const auto* index = std::lower_bound(
      std::begin(kCompositions), std::end(kCompositions), key(first, second),
      [&](uint16_t i, uint64_t wanted) { return key(kDecompositions[i].first, kDecompositions[i].second) < wanted; });
  if (index == std::end(kCompositions)) return 0;
  const Decomposition& row = kDecompositions[*index];
  return row.first == first && row.second == second ? row.composed : 0;
}

Utf8Step utf8_step(const char* bytes, size_t size) noexcept {
  const auto byte = [bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {Utf8Step::Kind::character, 1};
  if (lead < 0xC2 || lead > 0xF4) return {Utf8Step::Kind::broken, 1};
  const uint8_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
  unsigned char low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (uint8_t i = 1; i < length; ++i) {
    if (i == size) return {Utf8Step::Kind::unfinished, i};
    if (byte(i) < low || byte(i) > high) return {Utf8Step::Kind::broken, i};
    low = 0x80, high = 0xBF;
  }
  return {Utf8Step::Kind::character, length};
}

size_t find_invalid_utf8(std::string_view text) noexcept {
  size_t offset = 0;
  while (offset < text.size()) {
    const Utf8Step step = utf8_step(text.data() + offset, text.size() - offset);
    if (step.kind != Utf8Step::Kind::character) return offset;
    offset += step.num_bytes;
  }
  return std::string_view::npos;
}

void append_utf8(char32_t c, std::string& out) {
  const auto add = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      add(0xE0 | c >> 12);
    } else {
      add(0xF0 | c >> 18);
      add(0x80 | (c >> 12 & 0x3F));
    }
    add(0x80 | (c >> 6 & 0x3F));
  }
  add(0x80 | (c & 0x3F));
}

}  // namespace pagoda::text
