// Escapes only what JSON requires; numbers are independent of the locale.
#include "base/json_writer.h"

#include <array>
#include <charconv>

namespace pagoda::io {
namespace {

void append_members(const Json& object, std::string& out) {
  out += '{';
  bool first = true;
  for (const JsonMember& member : object.members()) {
    if (!first) out += ',';
    first = false;
    append_json_string(member.first, out);
    out += ':';
    append_json(member.second, out);
  }
  out += '}';
}

void append_items(const Json& array, std::string& out) {
  out += '[';
  bool first = true;
  for (const Json& item : array.items()) {
    if (!first) out += ',';
    first = false;
    append_json(item, out);
  }
  out += ']';
}

}  // namespace

void append_json_escaped(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) {
          out += c;
        } else {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        }
    }
  }
}

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  append_json_escaped(text, out);
  out += '"';
}

void append_json_number(double value, std::string& out) {
  std::array<char, 32> buffer;
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}

void append_json(const Json& value, std::string& out) {
  switch (value.kind()) {
    case Json::Kind::null: out += "null"; break;
    case Json::Kind::boolean: out += value.as_bool() ? "true" : "false"; break;
    case Json::Kind::integer: out += std::to_string(value.as_integer()); break;
    case Json::Kind::real: append_json_number(value.as_double(), out); break;
    case Json::Kind::string: append_json_string(value.as_string(), out); break;
    case Json::Kind::array: append_items(value, out); break;
    case Json::Kind::object: append_members(value, out); break;
  }
}

}  // namespace pagoda::io
