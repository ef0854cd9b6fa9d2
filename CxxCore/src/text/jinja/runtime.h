// Runtime: the resource budgets and the error state of one rendering. The first error is kept; after it every operation
// still returns some value, every loop ends at its next step(), and the output is discarded. So only loops need an
// error check, not every call.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/jinja/jinja.h"
#include "text/jinja/value/value.h"

namespace pagoda::text::jinja {

class Runtime {
 public:
  Runtime(const JinjaLimits& limits, const std::string& file_name);

  bool ok() const noexcept { return error_.is_ok(); }
  const Status& error() const noexcept { return error_; }
  int line = 0;  // line of the node being evaluated, for messages

  // Record an error, prefixed with file and line. They return undefined.
  Value fail(const std::string& reason);              // the template or its input is wrong: invalid_argument
  Value fail_budget(const std::string& reason);       // resource_exhausted
  Value fail_unsupported(const std::string& reason);  // jinja2 has it, we do not
  Value fail_undefined(const Value& undefined);       // "'x' is undefined"

  bool step();                    // one unit of evaluation; false if the rendering must stop
  bool work(size_t num_bytes);    // time spent inside one operation; same result
  bool charge(size_t num_bytes);  // for objects: never released
  bool fits(size_t num_bytes);    // whether that much could be charged now; an error if not

  // Nesting depth of calls and expressions, limited by count and remaining stack (threads may have only 512 KiB).
  class Deeper {
   public:
    explicit Deeper(Runtime& runtime) : runtime_(runtime) { ++runtime_.depth_; }
    ~Deeper() { --runtime_.depth_; }
    bool ok() const { return runtime_.check_depth(); }

   private:
    Runtime& runtime_;
  };
  bool check_stack();

  MemoryBudget memory;
  const JinjaLimits limits;

  template <class T>
  T* create(size_t num_values = 0) {
    charge(sizeof(T) + num_values * sizeof(Value));
    objects_.push_back(std::make_unique<T>());
    return static_cast<T*>(objects_.back().get());
  }
  void adopt(std::unique_ptr<Object> object) { objects_.push_back(std::move(object)); }

  Value make_list(std::vector<Value> items, Kind kind = Kind::list);
  Value make_dict(std::vector<std::pair<Value, Value>> entries);
  Value make_string(std::string bytes, bool trusted);
  Value slice_text(const Text& text, size_t begin, size_t end);

 private:
  bool check_depth();
  void record(StatusCode code, const std::string& reason);

  const std::string& file_name_;
  Status error_;
  int64_t steps_ = 0;
  int depth_ = 0;
  size_t work_since_clock_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  const char* stack_base_;
  std::vector<std::unique_ptr<Object>> objects_;
};

// Builds a string within the memory budget; exceeding it is a runtime error.
class TextBuilder {
 public:
  explicit TextBuilder(Runtime& runtime) : runtime_(runtime), text_(std::make_shared<Text>()) {}
  void append(std::string_view bytes, bool trusted) { check(text_->append(bytes, trusted, runtime_.memory)); }
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end) { check(text_->append(text, begin, end, runtime_.memory)); }
  size_t size() const { return text_->size(); }
  const Text& text() const { return *text_; }
  Value finish() { return Value::of_text(std::move(text_)); }

 private:
  void check(bool fits) {
    if (!fits) runtime_.fits(runtime_.memory.limit + 1);
  }
  Runtime& runtime_;
  std::shared_ptr<Text> text_;
};

}  // namespace pagoda::text::jinja
