// Values of the template language with Python semantics; strings track which of their bytes the template wrote. Strings
// are shared and immutable; every other object belongs to the Runtime of one rendering and is destroyed with it, so
// values may form cycles (a namespace that contains itself) and deep nests without recursive destruction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::text::jinja {

// Live bytes of one rendering. Freed strings return theirs.
struct MemoryBudget {
  size_t used = 0;
  size_t limit = 0;
};

// Bytes and their origin. `runs` is empty while all bytes share the origin `trusted`.
class Text {
 public:
  struct Run {
    size_t end;
    bool trusted;
  };
  Text() = default;
  Text(std::string bytes, bool trusted) : bytes_(std::move(bytes)), trusted_(trusted) {}
  ~Text();
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  std::string_view bytes() const noexcept { return bytes_; }
  size_t size() const noexcept { return bytes_.size(); }
  bool all_trusted() const noexcept { return runs_.empty() && (trusted_ || bytes_.empty()); }

  // Charged to `budget` for the lifetime of the text. Returns false, without side effects, if it does not fit.
  bool append(std::string_view bytes, bool trusted, MemoryBudget& budget);
  bool append(const Text& other, size_t begin, size_t end, MemoryBudget& budget);

  // Calls f(bytes, trusted) for each run of one origin.
  template <class F>
  void for_each_run(F&& f) const {
    size_t begin = 0;
    for (const Run& run : runs_) {
      f(bytes().substr(begin, run.end - begin), run.trusted);
      begin = run.end;
    }
    if (runs_.empty() && !bytes_.empty()) f(bytes(), trusted_);
  }

 private:
  void note_origin(size_t old_size, bool trusted);

  std::string bytes_;
  bool trusted_ = true;
  std::vector<Run> runs_;
  MemoryBudget* budget_ = nullptr;
  size_t charged_ = 0;
};
using TextRef = std::shared_ptr<const Text>;

enum class Kind : uint8_t {
  missing,    // an argument that was not passed; invisible to templates
  undefined,  // text: the reason, for the error on use
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  dict,
  range,
  view,      // of a dict: keys, values or items
  iterator,  // result of map, select, reverse ...: can be iterated once
  space,     // namespace()
  loop,      // the `loop` of a for
  cycler,
  joiner,
  function,  // macros, bound methods, globals
};

struct Object;
struct Sequence;
struct Dict;
struct Range;
struct Namespace;

struct Value {
  Kind kind = Kind::missing;
  bool markup = false;  // string only: passed through `safe` or `escape`
  union {
    int64_t integer;
    double real;
    Object* object;
  };
  TextRef text;

  Value() : integer(0) {}
  static Value undefined(std::string why);
  static Value none() { return of(Kind::none, 0); }
  static Value of_bool(bool value) { return of(Kind::boolean, value ? 1 : 0); }
  static Value of_int(int64_t value) { return of(Kind::integer, value); }
  static Value of_real(double value);
  static Value of_text(TextRef text);
  static Value of_object(Kind kind, Object* object);
  static Value literal(std::string text);  // a string written by the template

  bool is(Kind k) const noexcept { return kind == k; }
  bool is_missing() const noexcept { return kind == Kind::missing; }
  bool is_undefined() const noexcept { return kind == Kind::undefined; }
  bool is_none() const noexcept { return kind == Kind::none; }
  bool is_string() const noexcept { return kind == Kind::string; }
  bool is_integral() const noexcept { return kind == Kind::integer || kind == Kind::boolean; }  // bool is an int
  bool is_number() const noexcept { return is_integral() || kind == Kind::real; }
  bool is_listlike() const noexcept { return kind == Kind::list || kind == Kind::tuple; }
  double as_real() const noexcept { return kind == Kind::real ? real : static_cast<double>(integer); }
  std::string_view bytes() const noexcept { return text ? text->bytes() : std::string_view(); }

  Sequence& sequence() const noexcept;  // of list, tuple, view, iterator
  Dict& dict() const noexcept;
  Range& range() const noexcept;
  Namespace& space() const noexcept;

 private:
  static Value of(Kind kind, int64_t integer) {
    Value value;
    value.kind = kind;
    value.integer = integer;
    return value;
  }
};

struct Object {
  virtual ~Object() = default;
  virtual Value attribute(std::string_view) { return {}; }  // missing if there is none
};
struct Sequence : Object {
  std::vector<Value> items;
  size_t next = 0;             // iterator only: the first item not yet taken
  const char* view_name = "";  // view only: dict_keys, dict_values, dict_items
};
struct Dict : Object {
  std::vector<std::pair<Value, Value>> entries;  // insertion order
};
struct Range : Object {
  int64_t start = 0, stop = 0, step = 1, count = 0;
};
struct Namespace : Object {
  std::vector<std::pair<std::string, Value>> members;
};
struct Cycler : Object {
  std::vector<Value> items;
  size_t position = 0;
};
struct Joiner : Object {
  Value separator;
  bool used = false;
};

inline Sequence& Value::sequence() const noexcept { return *static_cast<Sequence*>(object); }
inline Dict& Value::dict() const noexcept { return *static_cast<Dict*>(object); }
inline Range& Value::range() const noexcept { return *static_cast<Range*>(object); }
inline Namespace& Value::space() const noexcept { return *static_cast<Namespace*>(object); }

const char* type_name(const Value& value) noexcept;  // as in Python's error messages: str, int, NoneType, ...

}  // namespace pagoda::text::jinja
