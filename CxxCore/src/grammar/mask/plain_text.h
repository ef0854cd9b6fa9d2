// PlainText: how many characters of arbitrary text a configuration accepts; most tokens of a vocabulary are
// such text. Inside a string any text is accepted, and then those tokens need not be examined one by one.
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

// Whole characters that JSON strings contain unescaped: no control characters, no quote, no backslash.
bool is_plain_text(std::string_view bytes) noexcept;

class PlainText {
 public:
  explicit PlainText(const Grammar& grammar);

  // The largest n, at most `max_bytes`, such that every plain text of up to n bytes can follow. May be an
  // underestimate if it is hard to determine.
  size_t num_free_bytes(Automaton& automaton, int32_t id, size_t max_bytes);

  // The n such that every plain text of up to n characters can follow, but none with more, as inside a string with a
  // length limit. Absent if the characters themselves matter, if n is `max_characters` or more, or if n is hard to
  // determine.
  std::optional<size_t> num_characters(Automaton& automaton, int32_t id, size_t max_characters);

 private:
  static constexpr size_t kMaxPositions = 4096;
  static constexpr size_t kMaxWays = 8;  // configurations after the same number of characters
  enum class Reach : uint8_t { all, none, some };

  Reach add_characters(Automaton& automaton, int32_t id, std::vector<int32_t>& after);
  static constexpr size_t kNumSteps = 8;  // ways to be inside a character; see plain_text.cpp

  struct Step {
    uint8_t byte;  // stands for all bytes of its class that lead to the same position in the character
    uint8_t next;
  };
  std::array<std::vector<Step>, kNumSteps> steps_;
  std::vector<std::pair<int32_t, uint8_t>> positions_;  // scratch of add_characters()
};

}  // namespace pagoda::grammar
