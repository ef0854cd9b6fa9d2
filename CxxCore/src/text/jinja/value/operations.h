// Python's operators on values: truth, equality, order, arithmetic, membership, subscripts, iteration.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

enum class Operator : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

bool truthy(const Value& value);
bool equals(Runtime& runtime, const Value& a, const Value& b);
bool less_than(Runtime& runtime, const Value& a, const Value& b);  // fails if Python's < would
bool contains(Runtime& runtime, const Value& container, const Value& item);
bool compare(Runtime& runtime, Operator op, const Value& a, const Value& b);
Value arithmetic(Runtime& runtime, Operator op, const Value& a, const Value& b);
Value negate(Runtime& runtime, const Value& value, bool minus);  // -value or +value
int64_t length_of(Runtime& runtime, const Value& value);         // len(value)

Value find_in_dict(Runtime& runtime, const Dict& dict, const Value& key);  // missing if absent
const Value* find_in_dict(const Dict& dict, std::string_view key);
bool check_hashable(Runtime& runtime, const Value& key);  // fails if it cannot be a key
void set_in_dict(Runtime& runtime, std::vector<std::pair<Value, Value>>& entries, const Value& key, const Value& value);

// object[key] without the fallback to attributes: missing where Python raises TypeError or LookupError.
Value subscript(Runtime& runtime, const Value& object, const Value& key);
Value slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step);

// text.find(part) or rfind, charged to the time budget: two long, nearly matching texts take quadratic time.
size_t find_bytes(Runtime& runtime, std::string_view text, std::string_view part, bool from_right = false);

size_t count_characters(std::string_view text);
size_t offset_of_character(std::string_view text, size_t index);  // text.size() if there are fewer

// Iterates over any iterable without copying it. Taking items from an iterator consumes it.
class Items {
 public:
  Items(Runtime& runtime, const Value& value);  // fails if the value is not iterable
  bool next(Value& item);                       // false at the end
  static bool is_iterable(const Value& value);

 private:
  Runtime& runtime_;
  Value value_;
  size_t position_ = 0;  // index, or byte offset in a string
};
std::vector<Value> to_items(Runtime& runtime, const Value& value);

// Merge sort: stable, and safe with an inconsistent `less` (NaN, or after an error), for which std::stable_sort is
// undefined behaviour.
template <class T, class Less>
void sort_stably(std::vector<T>& items, Less&& less) {
  std::vector<T> merged;
  merged.reserve(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    merged.clear();
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, items.size()), end = std::min(begin + 2 * width, items.size());
      size_t left = begin, right = middle;
      while (left < middle && right < end)
        merged.push_back(std::move(less(items[right], items[left]) ? items[right++] : items[left++]));
      while (left < middle) merged.push_back(std::move(items[left++]));
      while (right < end) merged.push_back(std::move(items[right++]));
    }
    items.swap(merged);
  }
}

}  // namespace pagoda::text::jinja
