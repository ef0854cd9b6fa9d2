// Pattern: a regular expression of JSON Schema as a deterministic automaton over characters. No backtracking anywhere:
// (a+)+b costs what a+b costs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/compile_budget.h"
#include "grammar/guard.h"

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

  // Of UTF-8. False also when the budget ends.
  bool matches(std::string_view text, CompileBudget& budget) const noexcept;

  // The number of characters from each state to the nearest end; -1 if there is none.
  std::vector<int32_t> distances() const;
  void remove_dead_ends();  // edges to states from which no end can be reached
};

// The strings of `pattern` in which no word of `guard` occurs.
struct GuardedPattern {
  Pattern pattern;
  bool is_needed;  // some string of the original begins like this one, but the guard leaves it no end as near
};
Result<GuardedPattern> guarded(const Pattern& pattern, const Guard& guard, CompileBudget& budget);

inline constexpr size_t kMaxPatternBytes = 4096;
inline constexpr int kMaxPatternDepth = 64;            // nesting of groups
inline constexpr size_t kMaxPatternParts = 20'000;     // after repetitions are written out
inline constexpr size_t kMaxPatternSpans = 1'000'000;  // ranges of characters in all parts
inline constexpr size_t kMaxPatternStates = 2'000;
inline constexpr size_t kMaxPatternEdges = 500'000;
inline constexpr size_t kMaxSubsetParts = 4'000'000;  // in all states while they are computed: 16 MB

// Supports a part of ECMA-262: literals, . [] \d \w \s and their opposites, escapes, groups without look-around, |,
// * + ? {n,m} and their lazy forms, ^ and $. Matches anywhere in the string, as JSON Schema requires, unless anchored
// or `is_whole`. Fails with invalid_argument, whose message names the unsupported syntax.
Result<Pattern> compile_pattern(std::string_view pattern, CompileBudget& budget, bool is_whole = false);

}  // namespace pagoda::grammar
