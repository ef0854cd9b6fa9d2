// Formats names read from a file for messages: quoted, truncated, and without bytes that could harm a terminal.
#pragma once

#include <string>
#include <string_view>

namespace pagoda::io {

// Call it as io::quoted: an unqualified call with a std::string also finds std::quoted.
inline std::string quoted(std::string_view name) {
  constexpr size_t kMaxBytes = 120;
  std::string text = "'";
  for (char c : name.substr(0, kMaxBytes)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (name.size() > kMaxBytes) {
    while (text.size() > 1 && (static_cast<unsigned char>(name[text.size() - 1]) & 0xc0) == 0x80) text.pop_back();
    text += "...";
  }
  return text + "'";
}

}  // namespace pagoda::io
