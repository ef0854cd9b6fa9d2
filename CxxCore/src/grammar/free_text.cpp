// The states are the prefixes of the words; a byte leads to the longest prefix that is then a suffix of the text.
#include "grammar/free_text.h"

#include <algorithm>
#include <map>
#include <string>

namespace pagoda::grammar {

void add_free_text(GrammarBuilder& builder, int32_t from, std::span<const EndWord> words, int32_t end) {
  std::map<std::string, int32_t> states;  // by prefix; whole words map to their targets, including -1
  for (const EndWord& word : words) {
    for (size_t size = 0; size < word.word.size(); ++size) states.try_emplace(std::string(word.word.substr(0, size)));
  }
  for (auto& [beginning, state] : states) state = builder.add_state();
  for (const EndWord& word : words) states[std::string(word.word)] = word.target;
  builder.add_jump(from, states[""]);
  const auto next = [&](std::string text) {
    while (!states.contains(text)) text.erase(0, 1);
    return states[text];
  };
  const auto is_word = [&](const std::string& text) {
    return std::ranges::any_of(words, [&](const EndWord& word) { return word.word == text; });
  };
  for (const auto& [beginning, state] : states) {
    if (is_word(beginning)) continue;
    if (end >= 0) builder.add_jump(state, end);
    // After a forbidden word that is a prefix of an allowed longer one, only the longer one may continue.
    const bool is_bound = std::ranges::any_of(
        words, [&](const EndWord& word) { return word.target < 0 && beginning.ends_with(word.word); });
    for (int low = 0, high; low < 256; low = high + 1) {
      const int32_t target = next(beginning + static_cast<char>(low));
      for (high = low; high < 255 && next(beginning + static_cast<char>(high + 1)) == target;) ++high;
      if (target >= 0 && (!is_bound || states.contains(beginning + static_cast<char>(low))))
        builder.add_bytes(state, static_cast<uint8_t>(low), static_cast<uint8_t>(high), target);
    }
  }
}

}  // namespace pagoda::grammar
