// Constructs values, and texts that track the origin of their bytes.
#include "text/jinja/value/value.h"

#include <algorithm>

namespace pagoda::text::jinja {

Text::~Text() {
  if (budget_ != nullptr) budget_->used -= charged_;
}

bool Text::append(std::string_view bytes, bool trusted, MemoryBudget& budget) {
  if (bytes.empty()) return true;
  const bool origin_changes = (runs_.empty() ? trusted_ : runs_.back().trusted) != trusted;
  const size_t cost = bytes.size() + (origin_changes ? sizeof(Run) : 0) + (budget_ == nullptr ? sizeof(Text) : 0);
  if (cost > budget.limit - budget.used) return false;
  budget.used += cost;
  budget_ = &budget;
  charged_ += cost;
  const size_t old_size = bytes_.size();
  bytes_.append(bytes);
  note_origin(old_size, trusted);
  return true;
}

bool Text::append(const Text& other, size_t begin, size_t end, MemoryBudget& budget) {
  if (other.runs_.empty()) return append(other.bytes().substr(begin, end - begin), other.trusted_, budget);
  auto run = std::upper_bound(other.runs_.begin(), other.runs_.end(), begin,
                              [](size_t offset, const Run& candidate) { return offset < candidate.end; });
  for (; run != other.runs_.end() && begin < end; ++run) {
    const size_t stop = std::min(run->end, end);
    if (!append(other.bytes().substr(begin, stop - begin), run->trusted, budget)) return false;
    begin = stop;
  }
  return true;
}

void Text::note_origin(size_t old_size, bool trusted) {
  if (old_size == 0 && runs_.empty()) {
    trusted_ = trusted;
  } else if (runs_.empty() && trusted_ != trusted) {
    runs_ = {{old_size, trusted_}, {bytes_.size(), trusted}};
  } else if (!runs_.empty()) {
    if (runs_.back().trusted == trusted) runs_.back().end = bytes_.size();
    else runs_.push_back({bytes_.size(), trusted});
  }
}

Value Value::undefined(std::string why) {
  Value value = of(Kind::undefined, 0);
  value.text = std::make_shared<const Text>(std::move(why), true);
  return value;
}

Value Value::of_real(double real) {
  Value value;
  value.kind = Kind::real;
  value.real = real;
  return value;
}

Value Value::of_text(TextRef text) {
  Value value = of(Kind::string, 0);
  value.text = std::move(text);
  return value;
}

Value Value::of_object(Kind kind, Object* object) {
  Value value;
  value.kind = kind;
  value.object = object;
  return value;
}

Value Value::literal(std::string text) { return of_text(std::make_shared<const Text>(std::move(text), true)); }

const char* type_name(const Value& value) noexcept {
  switch (value.kind) {
    case Kind::missing:
    case Kind::undefined: return "Undefined";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return value.markup ? "Markup" : "str";
    case Kind::list: return "list";
    case Kind::tuple: return "tuple";
    case Kind::dict: return "dict";
    case Kind::range: return "range";
    case Kind::view: return value.sequence().view_name;
    case Kind::iterator: return "generator";
    case Kind::space: return "Namespace";
    case Kind::loop: return "LoopContext";
    case Kind::cycler: return "Cycler";
    case Kind::joiner: return "Joiner";
    case Kind::function: return "function";
  }
  return "object";
}

}  // namespace pagoda::text::jinja
