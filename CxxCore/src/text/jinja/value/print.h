// Values as text: Python's str(), repr() and json.dumps().
#pragma once

#include <string>

#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

// Appends str(value); a string keeps the origin of its bytes, any other value that contains untrusted text is untrusted
// as a whole.
void append_str(Runtime& runtime, const Value& value, TextBuilder& out);
Value to_str(Runtime& runtime, const Value& value);  // a string is returned unchanged
Value to_repr(Runtime& runtime, const Value& value);
bool all_trusted(Runtime& runtime, const Value& value);  // whether every string inside was written by the template

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;  // per level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace pagoda::text::jinja
