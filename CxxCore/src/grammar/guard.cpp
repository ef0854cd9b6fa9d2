// The states are the prefixes of the words; a byte leads to the longest prefix that is then a suffix of the text.
#include "grammar/guard.h"

#include <algorithm>
#include <map>
#include <string>

namespace pagoda::grammar {

Guard::Guard(std::span<const std::string_view> words, std::string_view before) {
  std::map<std::string, int16_t> states{{"", 0}};
  for (const std::string_view word : words)
    for (size_t size = 1; size < word.size(); ++size) states.try_emplace(std::string(word.substr(0, size)));
  int16_t count = 0;
  for (auto& [prefix, state] : states) state = count++;
  const auto next = [&](std::string text) {
    const auto is_suffix = [&](std::string_view word) { return text.ends_with(word); };
    if (std::ranges::any_of(words, is_suffix)) return static_cast<int16_t>(kDead);
    while (!states.contains(text)) text.erase(0, 1);
    return states[text];
  };
  table_.resize(states.size());
  for (const auto& [prefix, state] : states)
    for (size_t byte = 0; byte < 256; ++byte)
      table_[static_cast<size_t>(state)][byte] = next(prefix + static_cast<char>(byte));
  start_ = next(std::string(before));
}

}  // namespace pagoda::grammar
