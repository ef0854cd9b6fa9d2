// PatternParser: regular expression text to a nondeterministic automaton over characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/compile_budget.h"

namespace pagoda::grammar {

struct CharacterSpan {
  char32_t first, last;  // inclusive
};
using CharacterSet = std::vector<CharacterSpan>;  // sorted, no overlaps once normalised

// The string is read as kBegin, its characters, kEnd: ^ and $ are ordinary symbols then.
inline constexpr char32_t kBegin = 0x110000, kEnd = 0x110001;

struct PatternPart {  // a state of the nondeterministic automaton
  CharacterSet characters;
  int32_t target = -1;         // next state after one of the characters
  std::vector<int32_t> jumps;  // without reading a character
};

class PatternParser {
 public:
  PatternParser(std::string_view text, CompileBudget& budget) : text_(text), budget_(budget) {}

  // parts[0] is the start, parts[1] the end.
  Result<std::vector<PatternPart>> parse(bool is_whole);  // is_whole: as if between ^ and $

 private:
  struct Fragment {
    int32_t start, end;
  };
  struct Counts {
    int64_t least, most;  // most -1: no limit
  };
  bool fail(const std::string& reason);
  bool has_more() const noexcept { return at_ < text_.size(); }
  bool take(std::string_view word) noexcept;
  int32_t add_part();
  void jump(int32_t from, int32_t to) { parts_[from].jumps.push_back(to); }

  bool parse_choice(int depth, Fragment& fragment);
  bool parse_sequence(int depth, Fragment& fragment);
  bool parse_repeated(int depth, Fragment& fragment);
  bool parse_atom(int depth, Fragment& fragment);
  bool parse_group(int depth, Fragment& fragment);
  bool parse_counts(bool& is_repeated, Counts& counts);
  bool parse_braces(Counts& counts);
  bool parse_set(CharacterSet& set);
  bool parse_set_item(CharacterSet& set);
  bool parse_escape(bool in_set, CharacterSet& set);
  bool parse_code(size_t num_digits, char32_t& c);
  bool read_character(char32_t& c);
  Fragment add_set(CharacterSet set);
  bool repeat(size_t atom_begin, int depth, const Counts& counts, Fragment& fragment);

  std::string_view text_;
  CompileBudget& budget_;
  size_t at_ = 0;
  std::vector<PatternPart> parts_;
  size_t num_spans_ = 0;  // in all parts
  Status status_;
};

CharacterSet normalise(CharacterSet set);
CharacterSet complement(const CharacterSet& set);  // within 0..U+10FFFF

}  // namespace pagoda::grammar
