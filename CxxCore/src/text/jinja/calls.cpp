// Calls: arguments, macros, recursive loops and the global functions.
#include <ctime>

#include "base/concat.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"

namespace pagoda::text::jinja {
namespace {

constexpr int64_t kMaxRange = 100'000;  // jinja2's sandbox limit

Value make_range(Runtime& runtime, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, "range", {"start", "stop", "step"}, 1);
  const bool one = args[1].is_missing();
  const int64_t start = one ? 0 : integer_or(runtime, args[0], 0, "range() argument");
  const int64_t stop = integer_or(runtime, args[one ? 0 : 1], 0, "range() argument");
  const int64_t step = integer_or(runtime, args[2], 1, "range() argument");
  if (step == 0) return runtime.fail("range() arg 3 must not be zero");
  uint64_t count = 0;
  if (step > 0 && start < stop)
    count = (static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) - 1) / static_cast<uint64_t>(step) + 1;
  if (step < 0 && start > stop)
    count = (static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) - 1) / (0 - static_cast<uint64_t>(step)) + 1;
  if (count > static_cast<uint64_t>(kMaxRange))
    return runtime.fail_budget(concat("range() of more than ", kMaxRange, " items"));
  Range* range = runtime.create<Range>();
  range->start = start, range->stop = stop, range->step = step, range->count = static_cast<int64_t>(count);
  return Value::of_object(Kind::range, range);
}

Value make_dict(Runtime& runtime, std::string_view name, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (arguments.positional.size() > 1)
    return runtime.fail(std::string(name) + "() takes at most 1 positional argument");
  if (!arguments.positional.empty()) {
    const Value& given = arguments.positional[0];
    if (given.is(Kind::dict)) {
      entries = given.dict().entries;
      runtime.work(16 * entries.size());
    } else {
      Items pairs(runtime, given);
      for (Value pair; pairs.next(pair);) {
        const std::vector<Value> items = to_items(runtime, pair);
        if (items.size() != 2) return runtime.fail("dictionary update sequence needs pairs");
        set_in_dict(runtime, entries, items[0], items[1]);
      }
    }
  }
  for (const auto& [key, value] : arguments.named) set_in_dict(runtime, entries, Value::literal(key), value);
  return runtime.make_dict(std::move(entries));
}

Value make_namespace(Runtime& runtime, const Arguments& arguments) {
  const Value members = make_dict(runtime, "namespace", arguments);
  Namespace* space = runtime.create<Namespace>();
  if (!members.is(Kind::dict)) return members;
  for (const auto& [key, value] : members.dict().entries) {
    if (key.bytes().starts_with('_')) return runtime.fail("names in a namespace may not begin with an underscore");
    space->members.emplace_back(std::string(key.bytes()), value);
  }
  return Value::of_object(Kind::space, space);
}

Value make_cycler(Runtime& runtime, const Arguments& arguments) {
  if (arguments.positional.empty()) return runtime.fail("at least one item has to be provided");
  Cycler* cycler = runtime.create<Cycler>(arguments.positional.size());
  cycler->items = arguments.positional;
  return Value::of_object(Kind::cycler, cycler);
}

Value make_joiner(Runtime& runtime, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, "joiner", {"sep"}, 0);
  Joiner* joiner = runtime.create<Joiner>();
  joiner->separator = args[0].is_missing() ? Value::literal(", ") : args[0];
  return Value::of_object(Kind::joiner, joiner);
}

Value strftime_now(Runtime& runtime, const Arguments& arguments) {
  constexpr size_t kMaxFormatBytes = 256;
  const auto args = arguments.bind(runtime, "strftime_now", {"format"}, 1);
  if (!args[0].is_string() || args[0].bytes().size() > kMaxFormatBytes)
    return runtime.fail("strftime_now() expects a format of at most 256 bytes");
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char buffer[4096];
  // The extra blank distinguishes an empty result from one that does not fit.
  const size_t size = std::strftime(buffer, sizeof buffer, (std::string(args[0].bytes()) + " ").c_str(), &local);
  if (size == 0) return runtime.fail("strftime_now(): the result is too long");
  return runtime.make_string(std::string(buffer, size - 1), args[0].text->all_trusted());
}

}  // namespace

bool is_global(std::string_view name) {
  static constexpr std::string_view kNames[] = {"range",           "dict",        "namespace", "cycler", "joiner",
                                                "raise_exception", "strftime_now"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value call_global_function(Runtime& runtime, std::string_view name, const Arguments& arguments) {
  if (name == "range") return make_range(runtime, arguments);
  if (name == "dict") return make_dict(runtime, "dict", arguments);
  if (name == "namespace") return make_namespace(runtime, arguments);
  if (name == "cycler") return make_cycler(runtime, arguments);
  if (name == "joiner") return make_joiner(runtime, arguments);
  if (name == "strftime_now") return strftime_now(runtime, arguments);
  const auto args = arguments.bind(runtime, "raise_exception", {"message"}, 1);
  return runtime.fail(std::string(to_str(runtime, args[0]).bytes()));
}

Arguments Evaluator::evaluate_arguments(const CallParts& parts) {
  Arguments arguments;
  for (const NodePtr& node : parts.positional) arguments.positional.push_back(evaluate(*node));
  if (parts.star != nullptr) {
    for (Value& item : to_items(runtime_, evaluate(*parts.star))) arguments.positional.push_back(std::move(item));
  }
  for (const auto& [name, node] : parts.named) arguments.named.emplace_back(name, evaluate(*node));
  if (parts.double_star != nullptr) {
    const Value mapping = evaluate(*parts.double_star);
    if (!mapping.is(Kind::dict)) {
      runtime_.fail("argument after ** must be a mapping");
      return arguments;
    }
    for (const auto& [key, value] : mapping.dict().entries)
      arguments.named.emplace_back(std::string(key.bytes()), value);
  }
  return arguments;
}

Value Evaluator::call(const Value& callee, Arguments arguments) {
  switch (callee.kind) {
    case Kind::undefined: return runtime_.fail_undefined(callee);
    case Kind::loop: return call_loop(*static_cast<Loop*>(callee.object), arguments);
    case Kind::joiner: {
      arguments.bind(runtime_, "joiner", {}, 0);
      Joiner& joiner = *static_cast<Joiner*>(callee.object);
      return std::exchange(joiner.used, true) ? joiner.separator : Value::literal({});
    }
    case Kind::function: break;
    default: return runtime_.fail(std::string("'") + type_name(callee) + "' object is not callable");
  }
  const Function& function = *static_cast<Function*>(callee.object);
  switch (function.form) {
    case Function::Form::macro: return call_macro(function, std::move(arguments));
    case Function::Form::global: return call_global_function(runtime_, function.name, arguments);
    case Function::Form::method: break;
  }
  if (function.self.is(Kind::loop))
    return static_cast<Loop*>(function.self.object)->call_method(function.name, arguments);
  return call_method(runtime_, function.self, function.name, arguments);
}

Value Evaluator::call_macro(const Function& macro, Arguments arguments) {
  Runtime::Deeper deeper(runtime_);
  if (!deeper.ok()) return Value::undefined({});
  TextBuilder out(runtime_);
  TextBuilder* const saved = std::exchange(out_, &out);
  {
    Block block(*this, macro.scope);
    bind_parameters(macro, arguments, *scope_);
    if (runtime_.ok()) execute_body(macro.macro->bodies[0]);
  }
  out_ = saved;
  return out.finish();
}

// Binds parameters, then caller, kwargs and varargs if the body names them. Defaults see earlier parameters.
void Evaluator::bind_parameters(const Function& macro, Arguments& arguments, Scope& scope) {
  const Signature& signature = *macro.macro->signature;
  const auto take_named = [&](const std::string& name) {
    for (auto it = arguments.named.begin(); it != arguments.named.end(); ++it) {
      if (it->first != name) continue;
      Value value = std::move(it->second);
      arguments.named.erase(it);
      return value;
    }
    return Value();
  };
  for (size_t i = 0; i < signature.names.size(); ++i) {
    Value value = i < arguments.positional.size() ? arguments.positional[i] : take_named(signature.names[i]);
    if (value.is_missing() && signature.defaults[i] != nullptr) value = evaluate(*signature.defaults[i]);
    if (value.is_missing()) value = Value::undefined("parameter '" + signature.names[i] + "' was not provided");
    scope.set(signature.symbols[i], value);
  }
  if (signature.uses_caller) {
    const Value caller = take_named("caller");
    scope.set(tree_.caller_symbol, caller.is_missing() ? Value::undefined("No caller defined") : caller);
  }
  if (signature.uses_kwargs) {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& [name, value] : arguments.named) entries.emplace_back(Value::literal(name), value);
    scope.set(tree_.kwargs_symbol, runtime_.make_dict(std::move(entries)));
  } else if (!arguments.named.empty()) {
    runtime_.fail("macro '" + macro.name + "' takes no keyword argument '" + arguments.named[0].first + "'");
  }
  const size_t num_bound = std::min(signature.names.size(), arguments.positional.size());
  if (signature.uses_varargs) {
    std::vector<Value> rest(arguments.positional.begin() + static_cast<ptrdiff_t>(num_bound),
                            arguments.positional.end());
    scope.set(tree_.varargs_symbol, runtime_.make_list(std::move(rest), Kind::tuple));
  } else if (arguments.positional.size() > num_bound) {
    runtime_.fail(concat("macro '", macro.name, "' takes not more than ", signature.names.size(), " argument(s)"));
  }
}

// loop(items) in a recursive loop: runs the body again, one level deeper.
Value Evaluator::call_loop(Loop& loop, const Arguments& arguments) {
  const auto args = arguments.bind(runtime_, "loop", {"iterable"}, 1);
  if (loop.ended) return runtime_.fail("a loop that has ended cannot be called");
  if (!loop.node.recursive) return runtime_.fail("The loop must have the 'recursive' marker to be called recursively.");
  Runtime::Deeper deeper(runtime_);
  if (!deeper.ok()) return Value::undefined({});
  TextBuilder out(runtime_);
  TextBuilder* const saved = std::exchange(out_, &out);
  execute_for(loop.node, args[0], loop.outer, loop.depth0 + 1);
  out_ = saved;
  return out.finish();
}

}  // namespace pagoda::text::jinja
