// PlainText: how many characters of arbitrary text a configuration accepts; most tokens of a vocabulary are
// such text. Inside a string it takes any, and then those tokens need not be looked at one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/automaton.h"

namespace pagoda::grammar {

// Whole characters that JSON strings hold as they are: no control characters, no quote, no backslash.
bool is_plain_text(std::string_view bytes) noexcept;

class PlainText {
 public:
  explicit PlainText(const Grammar& grammar);

  // So many bytes that every plain text of at most that many can follow, `max_bytes` at most. May be less than the
  // most, where that is hard to see.
  size_t num_free_bytes(Automaton& automaton, int32_t id, size_t max_bytes);

  // So many characters that every plain text of at most that many can follow and none of more, as inside a string with
  // a limit. Absent where the characters themselves matter, where there are `max_characters` or more, or where it is
  // hard to see.
  std::optional<size_t> num_characters(Automaton& automaton, int32_t id, size_t max_characters);

 private:
  static constexpr size_t kMaxPositions = 4096;
  static constexpr size_t kMaxWays = 8;  // configurations after the same number of characters
  enum class Reach : uint8_t { all, none, some };

  Reach add_characters(Automaton& automaton, int32_t id, std::vector<int32_t>& after);
  static constexpr size_t kNumSteps = 8;  // ways to be inside a character; see plain_text.cpp

  struct Step {
    uint8_t byte;  // stands for all of its class that lead to the same position in the character
    uint8_t next;
  };
  std::array<std::vector<Step>, kNumSteps> steps_;
  std::vector<std::pair<int32_t, uint8_t>> positions_;  // scratch of add_characters()
};

}  // namespace pagoda::grammar
