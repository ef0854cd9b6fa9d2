// str, repr and JSON of values, byte for byte as CPython prints them.
#include "text/jinja/value/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/concat.h"
#include "text/jinja/value/case.h"
#include "text/jinja/value/number.h"
#include "text/jinja/value/operations.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

std::string hex(const char* prefix, int digits, uint32_t value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%s%0*x", prefix, digits, value);
  return buffer;
}

std::string quoted(std::string_view text) {
  const bool double_quotes = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    if (c.value == '\n') out += "\\n";
    else if (c.value == '\r') out += "\\r";
    else if (c.value == '\t') out += "\\t";
    else if (c.value == '\\' || c.value == static_cast<char32_t>(quote)) (out += '\\') += static_cast<char>(c.value);
    else if (is_printable(c.value)) out.append(text, i, c.num_bytes);
    else if (c.value < 0x100) out += hex("\\x", 2, c.value);
    else if (c.value < 0x10000) out += hex("\\u", 4, c.value);
    else out += hex("\\U", 8, c.value);
    i += c.num_bytes;
  }
  return out += quote;
}

// Writes the parts of a repr, all with one origin.
struct Writer {
  Runtime& runtime;
  TextBuilder& out;
  bool trusted;
  void put(std::string_view text) { out.append(text, trusted); }
};

void write_repr(Writer& w, const Value& value);

void write_items(Writer& w, const std::vector<Value>& items, const char* open, const char* close) {
  w.put(open);
  for (size_t i = 0; i < items.size() && w.runtime.work(32); ++i) {
    if (i > 0) w.put(", ");
    write_repr(w, items[i]);
  }
  w.put(close);
}

template <class Entries, class WriteKey>
void write_entries(Writer& w, const Entries& entries, WriteKey&& write_key) {
  w.put("{");
  bool first = true;
  for (const auto& [key, value] : entries) {
    if (!w.runtime.work(32)) break;
    if (!first) w.put(", ");
    first = false;
    write_key(key);
    w.put(": ");
    write_repr(w, value);
  }
  w.put("}");
}

void write_repr(Writer& w, const Value& value) {
  Runtime::Deeper deeper(w.runtime);
  if (!deeper.ok()) return;
  switch (value.kind) {
    case Kind::missing:
    case Kind::undefined: return w.put("Undefined");
    case Kind::none: return w.put("None");
    case Kind::boolean: return w.put(value.integer != 0 ? "True" : "False");
    case Kind::integer: return w.put(std::to_string(value.integer));
    case Kind::real: return w.put(real_repr(value.real));
    case Kind::string:
      w.runtime.work(value.bytes().size());
      return w.put(value.markup ? "Markup(" + quoted(value.bytes()) + ")" : quoted(value.bytes()));
    case Kind::list: return write_items(w, value.sequence().items, "[", "]");
    case Kind::tuple:
      return write_items(w, value.sequence().items, "(", value.sequence().items.size() == 1 ? ",)" : ")");
    case Kind::view: w.put(value.sequence().view_name); return write_items(w, value.sequence().items, "([", "])");
    case Kind::dict: return write_entries(w, value.dict().entries, [&](const Value& key) { write_repr(w, key); });
    case Kind::range: {
      const Range& r = value.range();
      std::string text = concat("range(", r.start, ", ", r.stop);
      if (r.step != 1) text += concat(", ", r.step);
      return w.put(text + ")");
    }
    case Kind::space:
      w.put("<Namespace ");
      write_entries(w, value.space().members, [&](const std::string& key) { w.put(quoted(key)); });
      return w.put(">");
    case Kind::iterator:
    case Kind::loop:
    case Kind::cycler:
    case Kind::joiner:
    case Kind::function: return w.put(std::string("<") + type_name(value) + ">");  // Python shows an address here
  }
}

struct JsonWriter : Writer {
  const JsonStyle& style;
};

std::string json_quoted(std::string_view text, bool ensure_ascii) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    const char* const short_form = c.value == '"'    ? "\\\""
                                   : c.value == '\\' ? "\\\\"
                                   : c.value == '\n' ? "\\n"
                                   : c.value == '\r' ? "\\r"
                                   : c.value == '\t' ? "\\t"
                                   : c.value == '\b' ? "\\b"
                                   : c.value == '\f' ? "\\f"
                                                     : nullptr;
    if (short_form != nullptr) out += short_form;
    else if (c.value < 0x20 || (ensure_ascii && c.value > 0x7E && c.value < 0x10000)) out += hex("\\u", 4, c.value);
    else if (ensure_ascii && c.value >= 0x10000)
      out +=
          hex("\\u", 4, 0xD800 + ((c.value - 0x10000) >> 10)) + hex("\\u", 4, 0xDC00 + ((c.value - 0x10000) & 0x3FF));
    else out.append(text, i, c.num_bytes);
    i += c.num_bytes;
  }
  return out += '"';
}

std::string json_real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return real_repr(value);
}

void write_json(JsonWriter& w, const Value& value, size_t level);

void new_json_line(JsonWriter& w, size_t level) {
  if (!w.style.indented) return;
  w.put("\n");
  for (size_t i = 0; i < level; ++i) w.put(w.style.indent);
}

void write_json_key(JsonWriter& w, const Value& key) {
  if (key.is_string()) w.put(json_quoted(key.bytes(), w.style.ensure_ascii));
  else if (key.is(Kind::integer)) w.put(concat("\"", key.integer, "\""));
  else if (key.is(Kind::boolean)) w.put(key.integer != 0 ? "\"true\"" : "\"false\"");
  else if (key.is(Kind::real)) w.put("\"" + json_real(key.real) + "\"");
  else if (key.is_none()) w.put("\"null\"");
  else w.runtime.fail(std::string("keys must be str, int, float, bool or None, not ") + type_name(key));
}

void write_json_dict(JsonWriter& w, const Value& value, size_t level) {
  std::vector<const std::pair<Value, Value>*> entries;
  for (const auto& entry : value.dict().entries) entries.push_back(&entry);
  if (w.style.sort_keys) {
    sort_stably(entries, [&](const auto* a, const auto* b) { return less_than(w.runtime, a->first, b->first); });
  }
  if (entries.empty()) return w.put("{}");
  w.put("{");
  for (size_t i = 0; i < entries.size() && w.runtime.work(64); ++i) {
    if (i > 0) w.put(w.style.item_separator);
    new_json_line(w, level + 1);
    write_json_key(w, entries[i]->first);
    w.put(w.style.key_separator);
    write_json(w, entries[i]->second, level + 1);
  }
  new_json_line(w, level);
  w.put("}");
}

void write_json(JsonWriter& w, const Value& value, size_t level) {
  Runtime::Deeper deeper(w.runtime);
  if (!deeper.ok()) return;
  switch (value.kind) {
    case Kind::none: return w.put("null");
    case Kind::boolean: return w.put(value.integer != 0 ? "true" : "false");
    case Kind::integer: return w.put(std::to_string(value.integer));
    case Kind::real: return w.put(json_real(value.real));
    case Kind::string:
      w.runtime.work(value.bytes().size());
      return w.put(json_quoted(value.bytes(), w.style.ensure_ascii));
    case Kind::dict: return write_json_dict(w, value, level);
    case Kind::list:
    case Kind::tuple: {
      const auto& items = value.sequence().items;
      if (items.empty()) return w.put("[]");
      w.put("[");
      for (size_t i = 0; i < items.size() && w.runtime.work(32); ++i) {
        if (i > 0) w.put(w.style.item_separator);
        new_json_line(w, level + 1);
        write_json(w, items[i], level + 1);
      }
      new_json_line(w, level);
      return w.put("]");
    }
    default: w.runtime.fail(std::string("Object of type ") + type_name(value) + " is not JSON serializable");
  }
}

}  // namespace

bool all_trusted(Runtime& runtime, const Value& value) {
  Runtime::Deeper deeper(runtime);
  if (!deeper.ok()) return false;
  const auto trusted = [&](const Value& v) { return runtime.work(16) && all_trusted(runtime, v); };
  switch (value.kind) {
    case Kind::string: return value.text->all_trusted();
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
    case Kind::iterator: return std::all_of(value.sequence().items.begin(), value.sequence().items.end(), trusted);
    case Kind::dict:
      return std::all_of(value.dict().entries.begin(), value.dict().entries.end(),
                         [&](const auto& entry) { return trusted(entry.first) && trusted(entry.second); });
    case Kind::space:
      return std::all_of(value.space().members.begin(), value.space().members.end(),
                         [&](const auto& member) { return trusted(member.second); });
    default: return true;
  }
}

void append_str(Runtime& runtime, const Value& value, TextBuilder& out) {
  if (value.is_string()) return out.append(*value.text);
  if (value.is_undefined() || value.is_missing()) return;
  Writer writer{runtime, out, all_trusted(runtime, value)};
  write_repr(writer, value);
}

Value to_str(Runtime& runtime, const Value& value) {
  if (value.is_string()) return value;
  TextBuilder out(runtime);
  append_str(runtime, value, out);
  return out.finish();
}

Value to_repr(Runtime& runtime, const Value& value) {
  TextBuilder out(runtime);
  Writer writer{runtime, out, all_trusted(runtime, value)};
  write_repr(writer, value);
  return out.finish();
}

Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  TextBuilder out(runtime);
  JsonWriter writer{{runtime, out, all_trusted(runtime, value)}, style};
  write_json(writer, value, 0);
  return out.finish();
}

}  // namespace pagoda::text::jinja
