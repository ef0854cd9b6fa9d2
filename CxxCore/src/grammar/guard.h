// Guard: words that must not occur in a part of a document, such as the tags that end a parameter. A thread of the
// automaton has a guard state from the state that begins the guarded part to the state that ends it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pagoda::grammar {

class Guard {
 public:
  static constexpr int32_t kOff = -1;   // outside of guarded parts
  static constexpr int32_t kDead = -2;  // a word has occurred

  Guard() = default;
  // `before`: the bytes that precede every guarded part; a word may start in them.
  Guard(std::span<const std::string_view> words, std::string_view before);

  int32_t start() const noexcept { return start_; }
  int32_t next(int32_t state, uint8_t byte) const noexcept { return table_[static_cast<size_t>(state)][byte]; }
  size_t size() const noexcept { return table_.size(); }

 private:
  std::vector<std::array<int16_t, 256>> table_;  // [prefixes of the words]
  int32_t start_ = 0;
};

}  // namespace pagoda::grammar
