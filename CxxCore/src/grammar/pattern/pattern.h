// Pattern: a regular expression of JSON Schema as a deterministic automaton over characters. No backtracking anywhere:
// (a+)+b costs what a+b costs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::grammar {

struct CharacterEdge {
  char32_t first, last;  // inclusive
  int32_t target;
};

struct Pattern {
  struct State {
    std::vector<CharacterEdge> edges;  // by character, no overlaps
    bool accepts = false;              // the string may end here
  };
  std::vector<State> states;  // 0 is the start

  bool matches(std::string_view text) const noexcept;  // UTF-8
};

inline constexpr size_t kMaxPatternBytes = 4096;
inline constexpr int kMaxPatternDepth = 64;         // nesting of groups
inline constexpr size_t kMaxPatternParts = 20'000;  // after repetitions are written out
inline constexpr size_t kMaxPatternStates = 2'000;

// Supports a part of ECMA-262: literals, . [] \d \w \s and their opposites, escapes, groups without look-around, |,
// * + ? {n,m} and their lazy forms, ^ and $. Matches anywhere in the string, as JSON Schema requires, unless anchored
// or `is_whole`. Fails with invalid_argument, whose message names the unsupported syntax.
Result<Pattern> compile_pattern(std::string_view pattern, bool is_whole = false);

}  // namespace pagoda::grammar
