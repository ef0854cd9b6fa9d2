// Truth, equality, order, membership, subscripts and iteration.
#include "text/jinja/value/operations.h"

#include <cmath>

#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

enum class Order : uint8_t { less, equal, greater, none };

template <class T>
Order order_of(T a, T b) {
  return a < b ? Order::less : a == b ? Order::equal : a > b ? Order::greater : Order::none;
}

// Compares a with b for <, <=, >, >=; `op` is for the message.
Order order(Runtime& runtime, const Value& a, const Value& b, const char* op) {
  Runtime::Deeper deeper(runtime);
  if (!deeper.ok()) return Order::none;
  if (a.is_undefined() || b.is_undefined()) {
    runtime.fail_undefined(a.is_undefined() ? a : b);
    return Order::none;
  }
  if (a.is_integral() && b.is_integral()) return order_of(a.integer, b.integer);
  if (a.is_number() && b.is_number()) return order_of(a.as_real(), b.as_real());
  if (a.is_string() && b.is_string()) {
    runtime.work(std::min(a.bytes().size(), b.bytes().size()));
    return order_of(a.bytes(), b.bytes());  // UTF-8 byte order equals code point order
  }
  if (a.is_listlike() && a.kind == b.kind) {
    const auto &x = a.sequence().items, &y = b.sequence().items;
    for (size_t i = 0; i < x.size() && i < y.size() && runtime.work(32); ++i) {
      if (!equals(runtime, x[i], y[i])) return order(runtime, x[i], y[i], op);
    }
    return order_of(x.size(), y.size());
  }
  runtime.fail(std::string("'") + op + "' not supported between instances of '" + type_name(a) + "' and '" +
               type_name(b) + "'");
  return Order::none;
}

bool equal_dicts(Runtime& runtime, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Value other = find_in_dict(runtime, b, key);
    if (other.is_missing() || !equals(runtime, value, other)) return false;
  }
  return true;
}

bool is_hashable(Runtime& runtime, const Value& value) {
  Runtime::Deeper deeper(runtime);
  if (!deeper.ok()) return false;
  if (!value.is(Kind::tuple)) return !value.is(Kind::list) && !value.is(Kind::dict);
  return std::all_of(value.sequence().items.begin(), value.sequence().items.end(),
                     [&](const Value& item) { return is_hashable(runtime, item); });
}

Value range_item(const Range& range, int64_t index) { return Value::of_int(range.start + index * range.step); }

}  // namespace

bool truthy(const Value& value) {
  switch (value.kind) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean:
    case Kind::integer: return value.integer != 0;
    case Kind::real: return value.real != 0;
    case Kind::string: return !value.bytes().empty();
    case Kind::list:
    case Kind::tuple:
    case Kind::view: return !value.sequence().items.empty();
    case Kind::dict: return !value.dict().entries.empty();
    case Kind::range: return value.range().count > 0;
    default: return true;
  }
}

bool equals(Runtime& runtime, const Value& a, const Value& b) {
  Runtime::Deeper deeper(runtime);
  if (!deeper.ok() || !runtime.work(8)) return false;
  if (a.is_integral() && b.is_integral()) return a.integer == b.integer;
  if (a.is_number() && b.is_number()) return a.as_real() == b.as_real();
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none: return true;
    case Kind::string: runtime.work(std::min(a.bytes().size(), b.bytes().size())); return a.bytes() == b.bytes();
    case Kind::list:
    case Kind::tuple: {
      const auto &x = a.sequence().items, &y = b.sequence().items;
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(),
                                                [&](const Value& p, const Value& q) { return equals(runtime, p, q); });
    }
    case Kind::dict: return equal_dicts(runtime, a.dict(), b.dict());
    case Kind::range: {
      const Range &x = a.range(), &y = b.range();
      return x.count == y.count && (x.count == 0 || (x.start == y.start && (x.count == 1 || x.step == y.step)));
    }
    default: return a.object == b.object;
  }
}

bool less_than(Runtime& runtime, const Value& a, const Value& b) { return order(runtime, a, b, "<") == Order::less; }

bool compare(Runtime& runtime, Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::equal: return equals(runtime, a, b);
    case Operator::not_equal: return !equals(runtime, a, b);
    case Operator::in: return contains(runtime, b, a);
    case Operator::not_in: return !contains(runtime, b, a);
    case Operator::less: return order(runtime, a, b, "<") == Order::less;
    case Operator::greater: return order(runtime, a, b, ">") == Order::greater;
    case Operator::less_equal: {
      const Order o = order(runtime, a, b, "<=");
      return o == Order::less || o == Order::equal;
    }
    default: {
      const Order o = order(runtime, a, b, ">=");
      return o == Order::greater || o == Order::equal;
    }
  }
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) {
      if (item.is_undefined()) runtime.fail_undefined(item);
      runtime.fail(std::string("'in <string>' requires string as left operand, not ") + type_name(item));
      return false;
    }
    return find_bytes(runtime, container.bytes(), item.bytes()) != std::string_view::npos;
  }
  if (container.is(Kind::dict))
    return check_hashable(runtime, item) && !find_in_dict(runtime, container.dict(), item).is_missing();
  if (!Items::is_iterable(container)) {
    runtime.fail(std::string("argument of type '") + type_name(container) + "' is not iterable");
    return false;
  }
  Items items(runtime, container);
  for (Value candidate; items.next(candidate);) {
    if (equals(runtime, candidate, item)) return true;
  }
  return false;
}

int64_t length_of(Runtime& runtime, const Value& value) {
  switch (value.kind) {
    case Kind::undefined: return 0;
    case Kind::string:
      runtime.work(value.bytes().size() / 8);
      return static_cast<int64_t>(count_characters(value.bytes()));
    case Kind::list:
    case Kind::tuple:
    case Kind::view: return static_cast<int64_t>(value.sequence().items.size());
    case Kind::dict: return static_cast<int64_t>(value.dict().entries.size());
    case Kind::range: return value.range().count;
    default: runtime.fail(std::string("object of type '") + type_name(value) + "' has no len()"); return 0;
  }
}

const Value* find_in_dict(const Dict& dict, std::string_view key) {
  for (const auto& [name, value] : dict.entries) {
    if (name.is_string() && name.bytes() == key) return &value;
  }
  return nullptr;
}

Value find_in_dict(Runtime& runtime, const Dict& dict, const Value& key) {
  runtime.work(4 * dict.entries.size());
  if (key.is_string()) {
    const Value* value = find_in_dict(dict, key.bytes());
    return value != nullptr ? *value : Value();
  }
  for (const auto& [name, value] : dict.entries) {
    if (!name.is_string() && equals(runtime, name, key)) return value;
  }
  return {};
}

bool check_hashable(Runtime& runtime, const Value& key) {
  if (!is_hashable(runtime, key)) runtime.fail(std::string("unhashable type: '") + type_name(key) + "'");
  return runtime.ok();
}

void set_in_dict(Runtime& runtime, std::vector<std::pair<Value, Value>>& entries, const Value& key,
                 const Value& value) {
  if (!check_hashable(runtime, key)) return;
  runtime.work(4 * entries.size());
  for (auto& entry : entries) {
    if (equals(runtime, entry.first, key)) {
      entry.second = value;
      return;
    }
  }
  entries.emplace_back(key, value);
}

Value subscript(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is_undefined()) return runtime.fail_undefined(object);
  if (object.is(Kind::dict)) return find_in_dict(runtime, object.dict(), key);
  const bool indexable = object.is_listlike() || object.is_string() || object.is(Kind::range);
  if (!indexable || !key.is_integral()) return {};
  const int64_t length = length_of(runtime, object);
  const int64_t index = key.integer < 0 ? key.integer + length : key.integer;
  if (index < 0 || index >= length) return {};
  if (object.is_listlike()) return object.sequence().items[index];
  if (object.is(Kind::range)) return range_item(object.range(), index);
  runtime.work(object.bytes().size() / 8);
  const size_t begin = offset_of_character(object.bytes(), static_cast<size_t>(index));
  return runtime.slice_text(*object.text, begin, begin + read_character(object.bytes().data() + begin).num_bytes);
}

size_t find_bytes(Runtime& runtime, std::string_view text, std::string_view part, bool from_right) {
  constexpr size_t kShort = 64;
  if (part.size() > text.size()) return std::string_view::npos;
  if (part.size() <= kShort) {
    const size_t found = from_right ? text.rfind(part) : text.find(part);
    runtime.work(found == std::string_view::npos ? text.size() : from_right ? text.size() - found : found);
    return found;
  }
  const size_t last = text.size() - part.size();
  for (size_t i = 0; i <= last; ++i) {
    const size_t at = from_right ? last - i : i;
    const auto differs = std::mismatch(part.begin(), part.end(), text.begin() + static_cast<ptrdiff_t>(at));
    if (!runtime.work(1 + static_cast<size_t>(differs.first - part.begin()))) break;
    if (differs.first == part.end()) return at;
  }
  return std::string_view::npos;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

size_t offset_of_character(std::string_view text, size_t index) {
  size_t offset = 0;
  while (index > 0 && offset < text.size()) {
    offset += read_character(text.data() + offset).num_bytes;
    --index;
  }
  return offset;
}

bool Items::is_iterable(const Value& value) {
  switch (value.kind) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::range:
    case Kind::view:
    case Kind::iterator: return true;
    default: return false;
  }
}

Items::Items(Runtime& runtime, const Value& value) : runtime_(runtime), value_(value) {
  if (!is_iterable(value)) runtime_.fail(std::string("'") + type_name(value) + "' object is not iterable");
}

bool Items::next(Value& item) {
  if (!runtime_.work(32)) return false;
  switch (value_.kind) {
    case Kind::list:
    case Kind::tuple:
    case Kind::view: {
      const auto& items = value_.sequence().items;
      if (position_ >= items.size()) return false;
      item = items[position_++];
      return true;
    }
    case Kind::iterator: {
      Sequence& sequence = value_.sequence();
      if (sequence.next >= sequence.items.size()) return false;
      item = sequence.items[sequence.next++];
      return true;
    }
    case Kind::dict:
      if (position_ >= value_.dict().entries.size()) return false;
      item = value_.dict().entries[position_++].first;
      return true;
    case Kind::range:
      if (position_ >= static_cast<size_t>(value_.range().count)) return false;
      item = range_item(value_.range(), static_cast<int64_t>(position_++));
      return true;
    case Kind::string: {
      if (position_ >= value_.bytes().size()) return false;
      const size_t end = position_ + read_character(value_.bytes().data() + position_).num_bytes;
      item = runtime_.slice_text(*value_.text, position_, end);
      position_ = end;
      return true;
    }
    default: return false;
  }
}

std::vector<Value> to_items(Runtime& runtime, const Value& value) {
  std::vector<Value> out;
  Items items(runtime, value);
  for (Value item; items.next(item);) {
    // The caller's copy is charged only when it becomes a value; it must not exceed the budget before that either.
    if (!runtime.fits(out.size() * sizeof(Value))) break;
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace pagoda::text::jinja
