// Slicing, joining and replacing text while tracking each byte's origin, and the table of str methods.
#include "text/jinja/value/strings.h"

#include <algorithm>

#include "text/jinja/value/case.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

constexpr size_t kNotFound = std::string_view::npos;

size_t last_character(std::string_view text) {  // offset of it; text is not empty
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

Value expect_string(Runtime& runtime, const Value& value, const char* what) {
  if (value.is_string()) return value;
  if (value.is_undefined()) runtime.fail_undefined(value);
  runtime.fail(std::string(what) + " must be str, not " + type_name(value));
  return Value::literal({});
}

}  // namespace

Value escape_html(Runtime& runtime, const Value& value) {
  const Value text = to_str(runtime, value);
  if (text.markup) return text;
  TextBuilder out(runtime);
  text.text->for_each_run([&](std::string_view bytes, bool trusted) {
    for (const char c : bytes) {
      const char* entity = c == '&'    ? "&amp;"
                           : c == '<'  ? "&lt;"
                           : c == '>'  ? "&gt;"
                           : c == '\'' ? "&#39;"
                           : c == '"'  ? "&#34;"
                                       : nullptr;
      out.append(entity != nullptr ? std::string_view(entity) : std::string_view(&c, 1), trusted);
    }
  });
  Value result = out.finish();
  result.markup = true;
  return result;
}

Value strip(Runtime& runtime, const Value& text, const Value& characters, bool left, bool right) {
  std::u32string set;
  const bool spaces = characters.is_missing() || characters.is_none();
  if (!spaces) {
    const Value listed = expect_string(runtime, characters, "strip arg");
    for (size_t i = 0; i < listed.bytes().size();) {
      const Character c = read_character(listed.bytes().data() + i);
      set += c.value;
      i += c.num_bytes;
    }
  }
  const auto strips = [&](char32_t c) { return spaces ? is_space(c) : set.find(c) != std::u32string::npos; };
  const std::string_view bytes = text.bytes();
  size_t begin = 0, end = bytes.size();
  while (left && begin < end && runtime.work(1 + set.size())) {
    const Character c = read_character(bytes.data() + begin);
    if (!strips(c.value)) break;
    begin += c.num_bytes;
  }
  while (right && end > begin && runtime.work(1 + set.size())) {
    const size_t last = last_character(bytes.substr(0, end));
    if (!strips(read_character(bytes.data() + last).value)) break;
    end = last;
  }
  return begin == 0 && end == bytes.size() ? text : runtime.slice_text(*text.text, begin, end);
}

Value replace(Runtime& runtime, const Value& text, const Value& from, const Value& to, int64_t max_count) {
  const Value old = expect_string(runtime, from, "replace() argument 1");
  const Value fresh = expect_string(runtime, to, "replace() argument 2");
  const std::string_view bytes = text.bytes();
  TextBuilder out(runtime);
  size_t done = 0;
  for (int64_t count = 0; (max_count < 0 || count < max_count) && runtime.work(16);) {
    if (old.bytes().empty()) {  // before every character and at the end
      out.append(*fresh.text);
      ++count;
      if (done >= bytes.size()) return out.finish();
      const size_t step = read_character(bytes.data() + done).num_bytes;
      out.append(*text.text, done, done + step);
      done += step;
      continue;
    }
    const size_t ahead = find_bytes(runtime, bytes.substr(done), old.bytes());
    if (ahead == kNotFound) break;
    const size_t found = done + ahead;
    out.append(*text.text, done, found);
    out.append(*fresh.text);
    done = found + old.bytes().size();
    ++count;
  }
  out.append(*text.text, done, bytes.size());
  return out.finish();
}

Value join(Runtime& runtime, const Value& separator, const Value& items) {
  TextBuilder out(runtime);
  Items walk(runtime, items);
  bool first = true;
  for (Value item; walk.next(item); first = false) {
    if (!first) out.append(*separator.text);
    append_str(runtime, item, out);
  }
  return out.finish();
}

std::vector<std::pair<size_t, size_t>> line_spans(Runtime& runtime, std::string_view text, bool keep_ends) {
  std::vector<std::pair<size_t, size_t>> spans;
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    size_t after = i + c.num_bytes;
    if (is_line_end(c.value)) {
      if (c.value == '\r' && after < text.size() && text[after] == '\n') ++after;
      if (!runtime.fits(spans.size() * sizeof(Value)) || !runtime.work(after - begin)) return spans;
      spans.emplace_back(begin, keep_ends ? after : i);
      begin = after;
    }
    i = after;
  }
  if (begin < text.size()) spans.emplace_back(begin, text.size());
  return spans;
}

Value map_text(Runtime& runtime, const Value& text, std::string (*convert)(std::string_view)) {
  runtime.work(4 * text.bytes().size());
  return runtime.make_string(convert(text.bytes()), text.text->all_trusted());
}

std::string to_capitalized(std::string_view text) {
  std::string out;
  if (text.empty()) return out;
  const Character first = read_character(text.data());
  append_title(first.value, out);
  for (size_t i = first.num_bytes; i < text.size(); i += read_character(text.data() + i).num_bytes)
    append_lower_at(text, i, out);
  return out;
}

std::string to_title(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    if (in_word) append_lower_at(text, i, out);
    else append_title(c.value, out);
    in_word = is_cased(c.value);
    i += c.num_bytes;
  }
  return out;
}

}  // namespace pagoda::text::jinja
