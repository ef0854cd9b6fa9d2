// The JSON value tree and its parser.
#include "base/json.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "base/concat.h"
#include "base/json_reader.h"
#include "base/quoted.h"

namespace pagoda::io {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// Index of a member with a duplicate key, found by sorting: O(n log n) for any keys.
size_t find_duplicate_sorted(const std::vector<JsonMember>& members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int way = members[a].first.compare(members[b].first);
    return way != 0 ? way < 0 : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    if (members[order[i]].first == members[order[i - 1]].first) return order[i];
  }
  return kNone;
}

// Index of a member with a duplicate key, or kNone. Few keys are compared pairwise. Many go into an open-addressing
// hash table, at most half full; a probe run of 64 means adversarial collisions, and the keys are sorted instead.
size_t find_duplicate(const std::vector<JsonMember>& members) {
  constexpr size_t kFew = 8, kMaxProbes = 64;
  if (members.size() <= kFew) {
    for (size_t i = 1; i < members.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (members[i].first == members[j].first) return i;
      }
    }
    return kNone;
  }
  struct Slot {
    uint32_t tag;           // part of the hash, so that most mismatches never touch the key
    uint32_t member_plus1;  // 0: empty
  };
  size_t size = 4 * kFew;
  while (size < 2 * members.size()) size *= 2;
  const auto slots = std::make_unique<Slot[]>(size);
  for (size_t i = 0; i < members.size(); ++i) {
    const size_t hash = std::hash<std::string_view>{}(members[i].first);
    const auto tag = static_cast<uint32_t>(hash >> 32);
    size_t at = hash & (size - 1), probes = 0;
    for (; slots[at].member_plus1 != 0; at = (at + 1) & (size - 1)) {
      if (slots[at].tag == tag && members[slots[at].member_plus1 - 1].first == members[i].first) return i;
      if (++probes == kMaxProbes) return find_duplicate_sorted(members);
    }
    slots[at] = {tag, static_cast<uint32_t>(i + 1)};
  }
  return kNone;
}

}  // namespace

// Constructs every value in place: moving a Json costs more than reading a short string.
class JsonParser {
 public:
  JsonParser(std::string_view text, const JsonLimits& limits)
      : reader_(text), limits_(limits), max_depth_(std::min(limits.max_depth, kMaxJsonDepth)) {}

  Result<Json> parse() {
    Json root;
    if (!parse_value(root, 0)) return reader_.status();
    if (!reader_.at_end()) {
      reader_.fail("bytes after the value");
      return reader_.status();
    }
    return root;
  }

 private:
  bool parse_value(Json& into, int depth) {
    if (++num_values_ > limits_.max_values) {
      return reader_.fail(concat("more than ", limits_.max_values, " values"));
    }
    switch (reader_.peek()) {
      case '{': return parse_object(into.value_.emplace<std::vector<JsonMember>>(), depth);
      case '[': return parse_array(into.value_.emplace<std::vector<Json>>(), depth);
      case '"': return reader_.read_string(into.value_.emplace<std::string>());
      case 't': into.value_ = true; return reader_.take_word("true") || reader_.fail("expected a value");
      case 'f': into.value_ = false; return reader_.take_word("false") || reader_.fail("expected a value");
      case 'n': return reader_.take_word("null") || reader_.fail("expected a value");
      default: return parse_number(into);
    }
  }

  bool parse_number(Json& into) {
    JsonNumber number;
    if (!reader_.read_number(number)) return false;
    if (number.is_integer) into.value_ = number.integer;
    else into.value_ = number.real;
    return true;
  }

  bool open(char bracket, int depth) {
    if (depth >= max_depth_) return reader_.fail(concat("nesting deeper than ", max_depth_));
    return reader_.take(bracket);
  }

  bool parse_array(std::vector<Json>& items, int depth) {
    if (!open('[', depth)) return false;
    bool more = !reader_.take(']');
    if (more) items.reserve(2);  // most arrays by far are pairs: tokenizer merges
    while (more) {
      if (!parse_value(items.emplace_back(), depth + 1) || !reader_.read_separator(']', more)) return false;
    }
    return true;
  }

  bool parse_object(std::vector<JsonMember>& members, int depth) {
    if (!open('{', depth)) return false;
    const size_t first_offset = key_offsets_.size();
    bool more = !reader_.take('}');
    while (more) {
      reader_.peek();
      key_offsets_.push_back(reader_.offset());
      auto& [key, value] = members.emplace_back();
      if (!reader_.read_string(key)) return false;
      if (!reader_.take(':')) return reader_.fail("expected ':'");
      if (!parse_value(value, depth + 1) || !reader_.read_separator('}', more)) return false;
    }
    const size_t duplicate = limits_.reject_duplicate_keys ? find_duplicate(members) : kNone;
    if (duplicate != kNone) {
      return reader_.fail_at(key_offsets_[first_offset + duplicate],
                             "duplicate key " + io::quoted(members[duplicate].first));
    }
    key_offsets_.resize(first_offset);
    return true;
  }

  JsonReader reader_;
  JsonLimits limits_;
  int max_depth_;
  size_t num_values_ = 0;
  std::vector<size_t> key_offsets_;  // start of each open object's keys, outermost first
};

bool Json::as_bool() const noexcept {
  const bool* value = std::get_if<bool>(&value_);
  return value && *value;
}

int64_t Json::as_integer() const noexcept {
  const int64_t* value = std::get_if<int64_t>(&value_);
  return value ? *value : 0;
}

double Json::as_double() const noexcept {
  const double* value = std::get_if<double>(&value_);
  return value ? *value : static_cast<double>(as_integer());
}

const std::string& Json::as_string() const noexcept {
  static const std::string empty;
  const std::string* value = std::get_if<std::string>(&value_);
  return value ? *value : empty;
}

const std::vector<Json>& Json::items() const noexcept {
  static const std::vector<Json> empty;
  const auto* value = std::get_if<std::vector<Json>>(&value_);
  return value ? *value : empty;
}

const std::vector<JsonMember>& Json::members() const noexcept {
  static const std::vector<JsonMember> empty;
  const auto* value = std::get_if<std::vector<JsonMember>>(&value_);
  return value ? *value : empty;
}

const Json* Json::find(std::string_view key) const noexcept {
  for (const JsonMember& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json Json::make_object(std::vector<JsonMember> members) { return Json(Value(std::move(members))); }

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) { return JsonParser(text, limits).parse(); }

}  // namespace pagoda::io
