// Values as text: str(), repr() and json.dumps() of Python.
#pragma once

#include <string>

#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

// str(value) appended; a string keeps the origin of its bytes, anything that contains foreign text is foreign as a
// whole.
void append_str(Runtime& runtime, const Value& value, TextBuilder& out);
Value to_str(Runtime& runtime, const Value& value);  // a string stays itself
Value to_repr(Runtime& runtime, const Value& value);
bool all_trusted(Runtime& runtime, const Value& value);  // whether every string inside is the template's

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;  // of one level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace pagoda::text::jinja
