// Writes JSON values as compact text that parse_json reads back unchanged.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace pagoda::io {

void append_json(const Json& value, std::string& out);
void append_json_string(std::string_view text, std::string& out);   // with quotes
void append_json_escaped(std::string_view text, std::string& out);  // without quotes; text may be escaped in parts
void append_json_number(double value, std::string& out);            // shortest round-trip form; value must be finite

}  // namespace pagoda::io
