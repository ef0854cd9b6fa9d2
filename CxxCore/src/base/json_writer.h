// JSON values as compact text: what parse_json reads back as the same value.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace pagoda::io {

void append_json(const Json& value, std::string& out);
void append_json_string(std::string_view text, std::string& out);   // with its quotes
void append_json_escaped(std::string_view text, std::string& out);  // without them; any cut of `text` gives the same
void append_json_number(double value, std::string& out);            // the shortest digits that read back; finite

}  // namespace pagoda::io
