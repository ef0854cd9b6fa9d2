// Arithmetic and slices with Python's results; integers are 64 bits, and overflow is an error.
#include <cmath>

#include "text/jinja/value/operations.h"
#include "text/jinja/value/strings.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

const char* symbol(Operator op) {
  switch (op) {
    case Operator::add: return "+";
    case Operator::subtract: return "-";
    case Operator::multiply: return "*";
    case Operator::divide: return "/";
    case Operator::floor_divide: return "//";
    case Operator::modulo: return "%";
    default: return "** or pow()";
  }
}

constexpr size_t kRepeatChunkBytes = 4096;

Value overflow(Runtime& runtime) { return runtime.fail("integer result does not fit 64 bits"); }

Value integer_power(Runtime& runtime, int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return runtime.fail("0.0 cannot be raised to a negative power");
    return Value::of_real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  while (exponent > 0) {  // by squaring: at most 63 rounds
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return overflow(runtime);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return overflow(runtime);
  }
  return Value::of_int(result);
}

Value integer_arithmetic(Runtime& runtime, Operator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Operator::add: return __builtin_add_overflow(a, b, &result) ? overflow(runtime) : Value::of_int(result);
    case Operator::subtract: return __builtin_sub_overflow(a, b, &result) ? overflow(runtime) : Value::of_int(result);
    case Operator::multiply: return __builtin_mul_overflow(a, b, &result) ? overflow(runtime) : Value::of_int(result);
    case Operator::power: return integer_power(runtime, a, b);
    default: break;
  }
  if (b == 0) return runtime.fail(op == Operator::divide ? "division by zero" : "integer division or modulo by zero");
  if (op == Operator::divide) return Value::of_real(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) return op == Operator::modulo ? Value::of_int(0) : integer_arithmetic(runtime, Operator::subtract, 0, a);
  const int64_t remainder = a % b;
  const bool adjust = remainder != 0 && (remainder < 0) != (b < 0);
  if (op == Operator::modulo) return Value::of_int(adjust ? remainder + b : remainder);
  return Value::of_int(a / b - (adjust ? 1 : 0));
}

Value real_arithmetic(Runtime& runtime, Operator op, double a, double b) {
  switch (op) {
    case Operator::add: return Value::of_real(a + b);
    case Operator::subtract: return Value::of_real(a - b);
    case Operator::multiply: return Value::of_real(a * b);
    case Operator::power:
      if (a == 0 && b < 0) return runtime.fail("0.0 cannot be raised to a negative power");
      if (a < 0 && b != std::floor(b)) return runtime.fail("complex results of ** are not supported");
      return Value::of_real(std::pow(a, b));
    default: break;
  }
  if (b == 0) return runtime.fail(op == Operator::divide ? "float division by zero" : "float floor division by zero");
  if (op == Operator::divide) return Value::of_real(a / b);
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (op == Operator::modulo) return Value::of_real(remainder == 0 ? std::copysign(0.0, b) : remainder);
  const double quotient = (a - remainder) / b;
  return Value::of_real(quotient == 0 ? std::copysign(0.0, a / b) : std::floor(quotient + 0.5));
}

Value concatenate(Runtime& runtime, const Value& a, const Value& b) {
  if (a.is_string()) {
    TextBuilder out(runtime);
    const bool markup = a.markup || b.markup;
    runtime.work(a.bytes().size() + b.bytes().size());
    out.append(*(markup ? escape_html(runtime, a) : a).text);
    out.append(*(markup ? escape_html(runtime, b) : b).text);
    Value result = out.finish();
    result.markup = markup;
    return result;
  }
  const auto &x = a.sequence().items, &y = b.sequence().items;
  if (!runtime.work(16 * (x.size() + y.size()))) return Value::undefined({});
  std::vector<Value> items(x);
  items.insert(items.end(), y.begin(), y.end());
  return runtime.make_list(std::move(items), a.kind);
}

Value repeat(Runtime& runtime, const Value& value, int64_t times) {
  const size_t count = times > 0 ? static_cast<size_t>(times) : 0;
  const size_t unit = value.is_string() ? value.bytes().size() : value.sequence().items.size() * sizeof(Value);
  const bool representable = unit == 0 || count <= runtime.memory.limit / unit;
  if (!runtime.fits(representable ? count * unit : runtime.memory.limit + 1)) return Value::undefined({});
  if (value.is_string()) {
    if (unit == 0 || count == 0) return Value::literal({});
    TextBuilder chunk(runtime), out(runtime);  // short units are repeated in bulk
    const size_t per_chunk = std::min(count, std::max<size_t>(kRepeatChunkBytes / unit, 1));
    for (size_t i = 0; i < per_chunk; ++i) chunk.append(*value.text);
    for (size_t i = 0; i < count / per_chunk && runtime.work(chunk.size()); ++i) out.append(chunk.text());
    for (size_t i = 0; i < count % per_chunk; ++i) out.append(*value.text);
    return out.finish();
  }
  std::vector<Value> items;
  const auto& unit_items = value.sequence().items;
  for (size_t i = 0; i < count && unit > 0 && runtime.work(unit); ++i)
    items.insert(items.end(), unit_items.begin(), unit_items.end());
  return runtime.make_list(std::move(items), value.kind);
}

struct SliceBounds {
  int64_t start, step, count;
};

// slice(start, stop, step).indices(length)
bool resolve_slice(Runtime& runtime, int64_t length, const Value& start, const Value& stop, const Value& step,
                   SliceBounds& bounds) {
  for (const Value* part : {&start, &stop, &step}) {
    if (!part->is_missing() && !part->is_none() && !part->is_integral()) {
      runtime.fail("slice indices must be integers or None or have an __index__ method");
      return false;
    }
  }
  const auto given = [](const Value& part) { return part.is_integral(); };
  bounds.step = given(step) ? step.integer : 1;
  if (bounds.step == 0) {
    runtime.fail("slice step cannot be zero");
    return false;
  }
  const int64_t lowest = bounds.step < 0 ? -1 : 0, highest = bounds.step < 0 ? length - 1 : length;
  const auto clamp = [&](const Value& part, int64_t absent) {
    if (!given(part)) return absent;
    const int64_t index = part.integer < 0 ? std::max(part.integer, -length - 1) + length : part.integer;
    return std::min(std::max(index, lowest), highest);
  };
  bounds.start = clamp(start, bounds.step < 0 ? highest : lowest);
  const int64_t end = clamp(stop, bounds.step < 0 ? lowest : highest);
  const int64_t distance = bounds.step < 0 ? bounds.start - end : end - bounds.start;
  // The step may be INT64_MIN, which has no positive counterpart.
  const uint64_t stride = bounds.step < 0 ? 0 - static_cast<uint64_t>(bounds.step) : static_cast<uint64_t>(bounds.step);
  bounds.count = distance > 0 ? static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1 : 0;
  return true;
}

Value slice_string(Runtime& runtime, const Value& value, const SliceBounds& bounds) {
  const std::string_view text = value.bytes();
  runtime.work(text.size());
  if (bounds.count == 0) return Value::literal({});
  if (bounds.step == 1) {
    const size_t begin = offset_of_character(text, static_cast<size_t>(bounds.start));
    const size_t length = offset_of_character(text.substr(begin), static_cast<size_t>(bounds.count));
    return runtime.slice_text(*value.text, begin, begin + length);
  }
  if (!runtime.fits(text.size() * sizeof(uint32_t))) return Value::undefined({});
  std::vector<uint32_t> offsets;  // offset of each character, and of the end
  for (size_t i = 0; i < text.size(); i += read_character(text.data() + i).num_bytes)
    offsets.push_back(static_cast<uint32_t>(i));
  offsets.push_back(static_cast<uint32_t>(text.size()));
  TextBuilder out(runtime);
  for (int64_t i = 0; i < bounds.count && runtime.work(8); ++i) {
    const size_t index = static_cast<size_t>(bounds.start + i * bounds.step);
    out.append(*value.text, offsets[index], offsets[index + 1]);
  }
  return out.finish();
}

}  // namespace

Value arithmetic(Runtime& runtime, Operator op, const Value& a, const Value& b) {
  if (op == Operator::modulo && a.is_string()) return percent_format(runtime, a, b);
  if (a.is_undefined() || b.is_undefined()) return runtime.fail_undefined(a.is_undefined() ? a : b);
  if (a.is_integral() && b.is_integral()) return integer_arithmetic(runtime, op, a.integer, b.integer);
  if (a.is_number() && b.is_number()) return real_arithmetic(runtime, op, a.as_real(), b.as_real());
  const auto repeatable = [](const Value& value) { return value.is_string() || value.is_listlike(); };
  if (op == Operator::add && repeatable(a) && a.kind == b.kind) return concatenate(runtime, a, b);
  if (op == Operator::multiply && repeatable(a) && b.is_integral()) return repeat(runtime, a, b.integer);
  if (op == Operator::multiply && a.is_integral() && repeatable(b)) return repeat(runtime, b, a.integer);
  if (op == Operator::add && repeatable(a)) {
    const std::string type = type_name(a);
    return runtime.fail("can only concatenate " + type + " (not \"" + type_name(b) + "\") to " + type);
  }
  return runtime.fail(std::string("unsupported operand type(s) for ") + symbol(op) + ": '" + type_name(a) + "' and '" +
                      type_name(b) + "'");
}

Value negate(Runtime& runtime, const Value& value, bool minus) {
  if (value.is_undefined()) return runtime.fail_undefined(value);
  if (value.is_integral())
    return minus ? integer_arithmetic(runtime, Operator::subtract, 0, value.integer) : Value::of_int(value.integer);
  if (value.is(Kind::real)) return Value::of_real(minus ? -value.real : value.real);
  return runtime.fail(std::string("bad operand type for unary ") + (minus ? "-" : "+") + ": '" + type_name(value) +
                      "'");
}

Value slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is_undefined()) return runtime.fail_undefined(object);
  if (object.is(Kind::dict)) return runtime.fail("unhashable type: 'slice'");
  if (!object.is_listlike() && !object.is_string() && !object.is(Kind::range))
    return runtime.fail(std::string("'") + type_name(object) + "' object is not subscriptable");
  SliceBounds bounds{};
  if (!resolve_slice(runtime, length_of(runtime, object), start, stop, step, bounds)) return Value::undefined({});
  if (object.is_string()) return slice_string(runtime, object, bounds);
  if (object.is(Kind::range)) {
    Range* range = runtime.create<Range>();
    const Range& of = object.range();
    *range = of;
    range->count = bounds.count;
    if (bounds.count > 0) range->start = of.start + bounds.start * of.step;
    if (bounds.count > 1) range->step = of.step * bounds.step;  // cannot overflow: two items are that far apart
    range->stop = static_cast<int64_t>(static_cast<uint64_t>(range->start) +
                                       static_cast<uint64_t>(bounds.count) * static_cast<uint64_t>(range->step));
    return Value::of_object(Kind::range, range);
  }
  std::vector<Value> items;
  for (int64_t i = 0; i < bounds.count && runtime.work(16); ++i)
    items.push_back(object.sequence().items[bounds.start + i * bounds.step]);
  return runtime.make_list(std::move(items), object.kind);
}

}  // namespace pagoda::text::jinja
