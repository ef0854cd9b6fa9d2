// concat: text from strings, characters and numbers, for messages.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace pagoda {

template <class Part>
void append_part(std::string& text, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) text += std::string_view(part);
  else if constexpr (std::is_same_v<Part, char>) text += part;
  else text += std::to_string(part);
}

// concat("row ", 3, " of ", name): numbers as std::to_string() writes them.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (append_part(text, parts), ...);
  return text;
}

}  // namespace pagoda
