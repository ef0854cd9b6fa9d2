// Budgets, the first error, and the objects of one rendering.
#include "text/jinja/runtime.h"

#include "base/concat.h"

namespace pagoda::text::jinja {
namespace {

constexpr size_t kWorkPerStep = 64;  // bytes that cost about as much as evaluating one node
constexpr size_t kWorkPerClockCheck = 1 << 16;
constexpr size_t kMaxStackBytes = 256 << 10;

const char* stack_position() { return static_cast<const char*>(__builtin_frame_address(0)); }

}  // namespace

Runtime::Runtime(const JinjaLimits& limits_in, const std::string& file_name)
    : memory{0, limits_in.max_memory_bytes},
      limits(limits_in),
      file_name_(file_name),
      deadline_(std::chrono::steady_clock::now() + limits_in.max_time),
      stack_base_(stack_position()) {}

void Runtime::record(StatusCode code, const std::string& reason) {
  if (error_.is_ok()) error_ = make_error(code, concat(file_name_, ":", line, ": ", reason));
}

Value Runtime::fail(const std::string& reason) {
  record(StatusCode::invalid_argument, reason);
  return Value::undefined({});
}

Value Runtime::fail_budget(const std::string& reason) {
  record(StatusCode::resource_exhausted, reason);
  return Value::undefined({});
}

Value Runtime::fail_unsupported(const std::string& reason) {
  record(StatusCode::unsupported, reason);
  return Value::undefined({});
}

Value Runtime::fail_undefined(const Value& undefined) { return fail(std::string(undefined.bytes())); }

bool Runtime::step() {
  if (++steps_ > limits.max_steps) fail_budget(concat("rendering needs more than ", limits.max_steps, " steps"));
  return work(kWorkPerStep);
}

bool Runtime::work(size_t num_bytes) {
  work_since_clock_ += num_bytes;
  if (work_since_clock_ >= kWorkPerClockCheck) {
    work_since_clock_ = 0;
    if (std::chrono::steady_clock::now() > deadline_)
      fail_budget(concat("rendering needs more than ", limits.max_time.count(), " ms"));
  }
  return ok();
}

bool Runtime::fits(size_t num_bytes) {
  if (num_bytes > memory.limit - memory.used)
    fail_budget(concat("rendering needs more than ", memory.limit, " bytes of memory"));
  return ok();
}

bool Runtime::charge(size_t num_bytes) {
  if (!fits(num_bytes)) return false;
  memory.used += num_bytes;
  return true;
}

bool Runtime::check_depth() {
  if (depth_ > limits.max_depth) fail_budget(concat("calls or values nest deeper than ", limits.max_depth));
  return check_stack();
}

bool Runtime::check_stack() {
  const ptrdiff_t used = stack_base_ - stack_position();
  if (static_cast<size_t>(used < 0 ? -used : used) > kMaxStackBytes) fail_budget("calls or values nest too deep");
  return ok();
}

Value Runtime::make_list(std::vector<Value> items, Kind kind) {
  Sequence* sequence = create<Sequence>(items.size());
  sequence->items = std::move(items);
  return Value::of_object(kind, sequence);
}

Value Runtime::make_dict(std::vector<std::pair<Value, Value>> entries) {
  Dict* dict = create<Dict>(2 * entries.size());
  dict->entries = std::move(entries);
  return Value::of_object(Kind::dict, dict);
}

Value Runtime::make_string(std::string bytes, bool trusted) {
  TextBuilder builder(*this);
  builder.append(bytes, trusted);
  return builder.finish();
}

Value Runtime::slice_text(const Text& text, size_t begin, size_t end) {
  TextBuilder builder(*this);
  builder.append(text, begin, end);
  return builder.finish();
}

}  // namespace pagoda::text::jinja
