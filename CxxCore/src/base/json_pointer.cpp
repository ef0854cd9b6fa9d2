// One step at a time; array elements by index, object members by name.
#include "base/json_pointer.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace pagoda::io {

// ~1 is '/', ~0 is '~', %41 is 'A'.
static std::string unescape_step(std::string_view step) {
  std::string out;
  const auto hex = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  for (size_t i = 0; i < step.size(); ++i) {
    const std::string_view rest = step.substr(i);
    if (rest.starts_with("~1") || rest.starts_with("~0")) {
      out += rest[1] == '1' ? '/' : '~';
      ++i;
    } else if (rest[0] == '%' && rest.size() > 2 && isxdigit(static_cast<unsigned char>(rest[1])) &&
               isxdigit(static_cast<unsigned char>(rest[2]))) {
      out += static_cast<char>(hex(rest[1]) * 16 + hex(rest[2]));
      i += 2;
    } else {
      out += rest[0];
    }
  }
  return out;
}

const Json* find_pointer(const Json& root, std::string_view pointer) {
  const Json* at = &root;
  while (at && !pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string step = unescape_step(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    if (at->is_array()) {
      const bool is_index =
          !step.empty() && step.size() < 9 && std::ranges::all_of(step, [](char c) { return c >= '0' && c <= '9'; });
      const size_t index = is_index ? static_cast<size_t>(std::stoul(step)) : at->items().size();
      at = index < at->items().size() ? &at->items()[index] : nullptr;
    } else {
      at = at->find(step);
    }
  }
  return at;
}

const Json* find_reference(const Json& root, std::string_view reference) {
  if (!reference.starts_with('#') || (reference.size() > 1 && reference[1] != '/')) return nullptr;
  return find_pointer(root, reference.substr(1));
}

}  // namespace pagoda::io
