// UTF-8 steps, character classes, and NFC with the origin of its text.
#include <random>
#include <string>
#include <vector>

#include "support/test.h"
#include "text/normalizer.h"
#include "text/unicode/unicode.h"

namespace pagoda::test {

namespace {

std::string utf8(std::u32string_view characters) {
  std::string text;
  for (const char32_t c : characters) text::append_utf8(c, text);
  return text;
}

std::string nfc(std::u32string_view characters) {
  const std::string text = utf8(characters);
  std::string out;
  std::vector<text::OriginRun> runs;
  text::append_nfc(text, {{text.size(), true}}, out, runs);
  return out;
}

}  // namespace

PAGODA_TEST(unicode_every_character_survives_writing_and_reading) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    text::append_utf8(c, text);
    const text::Character back = text::read_character(text.data());
    const text::Utf8Step step = text::utf8_step(text.data(), text.size());
    if (back.value != c || back.num_bytes != text.size() || step.kind != text::Utf8Step::Kind::character ||
        step.num_bytes != text.size()) {
      CHECK_EQ(static_cast<uint32_t>(c), static_cast<uint32_t>(back.value));
    }
  }
}

PAGODA_TEST(unicode_finds_the_first_invalid_byte) {
  CHECK_EQ(text::find_invalid_utf8("plain \xC3\xA9"), std::string::npos);
  CHECK_EQ(text::find_invalid_utf8(""), std::string::npos);
  CHECK_EQ(text::find_invalid_utf8("ab\xC3"), size_t{2});
  CHECK_EQ(text::find_invalid_utf8("a\xC0\x80"), size_t{1});         // overlong
  CHECK_EQ(text::find_invalid_utf8("\xED\xA0\x80"), size_t{0});      // a surrogate
  CHECK_EQ(text::find_invalid_utf8("\xF4\x90\x80\x80"), size_t{0});  // above U+10FFFF
  CHECK_EQ(text::find_invalid_utf8("\xF0\x8F\xBF\xBF"), size_t{0});
}

PAGODA_TEST(unicode_knows_the_classes_of_the_patterns) {
  struct Row {
    char32_t c;
    uint8_t flags;
  };
  const Row rows[] = {
      {'a', text::kLetter | text::kWord},
      {0x4E2D, text::kLetter | text::kWord},
      {'_', text::kWord},
      {'7', text::kNumber | text::kDecimal | text::kWord},
      {0x0967, text::kNumber | text::kDecimal | text::kWord},
      {0x00BD, text::kNumber},
      {' ', text::kSpace},
      {0x0B, text::kSpace},
      {0x85, text::kSpace},
      {0xA0, text::kSpace},
      {0x2028, text::kSpace},
      {0x3000, text::kSpace},
      {0x200B, 0},
      {0x1C, 0},
      {0x0301, text::kMark | text::kWord | text::kNfcAttention},
      {0x1F44D, 0},
      {0x10FFFF, 0},
  };
  for (const Row& row : rows) {
    note("character " + std::to_string(static_cast<uint32_t>(row.c)));
    CHECK_EQ(+text::char_flags(row.c), +row.flags);
  }
}

PAGODA_TEST(unicode_nfc_composes_reorders_and_replaces) {
  CHECK_EQ(nfc(U"e\u0301"), utf8(U"\u00E9"));
  CHECK_EQ(nfc(U"a\u0301\u0323"), utf8(U"\u1EA1\u0301"));  // the dot below comes first and composes
  CHECK_EQ(nfc(U"\u00E9\u0323"), utf8(U"\u1EB9\u0301"));   // decomposed to insert the dot
  CHECK_EQ(nfc(U"a\u0315\u0300\u05AE\u0300b"), utf8(U"\u00E0\u05AE\u0300\u0315b"));
  CHECK_EQ(nfc(U"\u212B\u2126"), utf8(U"\u00C5\u03A9"));  // replaced by one character
  CHECK_EQ(nfc(U"\u0958"), utf8(U"\u0915\u093C"));        // composed form that NFC does not use
  CHECK_EQ(nfc(U"\u1100\u1161\u11A8"), utf8(U"\uAC01"));
  CHECK_EQ(nfc(U"\uAC00\u11A8"), utf8(U"\uAC01"));
  CHECK_EQ(nfc(U"\uAC01\u11A8"), utf8(U"\uAC01\u11A8"));
  CHECK_EQ(nfc(U"\u1100\u1100\u1161"), utf8(U"\u1100\uAC00"));
  CHECK_EQ(nfc(U"\u0301e"), utf8(U"\u0301e"));             // a mark at the start joins nothing
  CHECK_EQ(nfc(U"a\u0338\u0301"), utf8(U"\u00E1\u0338"));  // a mark of a lower class does not block
}

PAGODA_TEST(unicode_nfc_changes_nothing_twice) {
  std::mt19937_64 random(seed(5));
  const std::u32string alphabet =
      U"aeK.\u00E9\u1EA1\u0301\u0323\u0327\u0345\u0338\u093C\u0915\u1100\u1161\u11A8\uAC00\u212B";
  for (int round = 0; round < 3000; ++round) {
    std::u32string characters;
    for (size_t n = random() % 12; n > 0; --n) characters += alphabet[random() % alphabet.size()];
    const std::string once = nfc(characters);
    std::string twice;
    std::vector<text::OriginRun> runs;
    text::append_nfc(once, {{once.size(), true}}, twice, runs);
    CHECK_EQ(once, twice);
    if (text::is_certainly_nfc(utf8(characters))) CHECK_EQ(once, utf8(characters));
  }
}

PAGODA_TEST(unicode_nfc_sorts_many_marks_quickly) {
  std::u32string characters = U"a";
  for (int i = 0; i < 200'000; ++i) characters += i % 2 == 0 ? U'\u0301' : U'\u0323';
  const std::string text = nfc(characters);
  CHECK(text.starts_with(utf8(U"\u1EA1\u0323")));
  CHECK(text.ends_with(utf8(U"\u0301\u0301")));
}

PAGODA_TEST(unicode_nfc_keeps_track_of_origin) {
  const std::string text = utf8(U"xe\u0301ye\u0301");  // x e ´ y e ´
  std::string out;
  std::vector<text::OriginRun> runs;
  // The first mark has a different origin than its letter: the pair is not the template's. The last pair is.
  text::append_nfc(text, {{2, true}, {4, false}, {text.size(), true}}, out, runs);
  CHECK_EQ(out, utf8(U"x\u00E9y\u00E9"));
  REQUIRE(runs.size() == 3);
  CHECK_EQ(runs[0].end, size_t{1});
  CHECK_EQ(runs[1].end, size_t{3});
  CHECK_EQ(runs[2].end, size_t{6});
  CHECK(runs[0].from_template && !runs[1].from_template && runs[2].from_template);
}

}  // namespace pagoda::test
