// Attribute lookup and the methods of dicts, lists and cyclers.
#include "text/jinja/value/objects.h"

#include <algorithm>
#include <array>

#include "text/jinja/value/number.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"

namespace pagoda::text::jinja {
namespace {

constexpr std::array kDictMethods = {"get", "items", "keys", "values", "copy"};
constexpr std::array kSequenceMethods = {"count", "index"};
constexpr std::array kChangingDictMethods = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::array kChangingListMethods = {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
constexpr std::array kCyclerMethods = {"next", "reset"};
constexpr std::array kLoopMethods = {"cycle", "changed"};

template <class Names>
bool listed(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_forbidden(const Value& object, std::string_view name) {
  if (name.starts_with("__")) return true;
  return (object.is(Kind::dict) && listed(kChangingDictMethods, name)) ||
         (object.is(Kind::list) && listed(kChangingListMethods, name));
}

std::string described(const Value& object) {
  return object.is_none() ? "None" : std::string(type_name(object)) + " object";
}

Value no_attribute(const Value& object, std::string_view name) {
  return Value::undefined("'" + described(object) + "' has no attribute '" + std::string(name) + "'");
}

// The object's own attribute; missing if it has none of that name.
Value own_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (is_forbidden(object, name))
    return Value::undefined("access to attribute '" + std::string(name) + "' of '" + type_name(object) +
                            "' object is unsafe.");
  if (has_method(object, name)) {
    Function* method = runtime.create<Function>();
    method->form = Function::Form::method;
    method->name = std::string(name);
    method->self = object;
    return Value::of_object(Kind::function, method);
  }
  if (object.is(Kind::space)) {
    runtime.work(4 * object.space().members.size());
    for (const auto& [key, value] : object.space().members) {
      if (key == name) return value;
    }
    return {};
  }
  if (object.is(Kind::cycler) && name == "current") {
    const auto& cycler = *static_cast<Cycler*>(object.object);
    return cycler.items[cycler.position];
  }
  if (object.is(Kind::loop) || object.is(Kind::function)) return object.object->attribute(name);
  return {};
}

Value dict_view(Runtime& runtime, const Dict& dict, std::string_view name) {
  std::vector<Value> items;
  for (const auto& [key, value] : dict.entries) {
    if (!runtime.work(32)) break;
    items.push_back(name == "keys" ? key : name == "values" ? value : runtime.make_list({key, value}, Kind::tuple));
  }
  const Value view = runtime.make_list(std::move(items), Kind::view);
  view.sequence().view_name = name == "keys" ? "dict_keys" : name == "values" ? "dict_values" : "dict_items";
  return view;
}

Value call_dict_method(Runtime& runtime, const Value& object, std::string_view name, const Arguments& arguments) {
  if (name == "get") {
    const auto args = arguments.bind(runtime, name, {"key", "default"}, 1);
    check_hashable(runtime, args[0]);
    const Value found = find_in_dict(runtime, object.dict(), args[0]);
    if (!found.is_missing()) return found;
    return args[1].is_missing() ? Value::none() : args[1];
  }
  arguments.bind(runtime, name, {}, 0);
  return name == "copy" ? object : dict_view(runtime, object.dict(), name);
}

Value call_sequence_method(Runtime& runtime, const Value& object, std::string_view name, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, name, {"value"}, 1);
  int64_t count = 0, index = 0;
  for (const Value& item : object.sequence().items) {
    if (equals(runtime, item, args[0])) {
      if (name == "index") return Value::of_int(index);
      ++count;
    }
    ++index;
  }
  return name == "index" ? runtime.fail("value is not in list") : Value::of_int(count);
}

Value call_cycler_method(Runtime& runtime, Cycler& cycler, std::string_view name, const Arguments& arguments) {
  arguments.bind(runtime, name, {}, 0);
  const size_t position = cycler.position;
  cycler.position = name == "reset" ? 0 : (position + 1) % cycler.items.size();
  return name == "reset" ? Value::none() : cycler.items[position];
}

}  // namespace

Value Function::attribute(std::string_view attribute_name) {
  return form == Form::macro && attribute_name == "name" ? Value::literal(name) : Value();
}

Value get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is_undefined()) return runtime.fail_undefined(object);
  const Value own = own_attribute(runtime, object, name);
  if (!own.is_missing()) return own;
  if (object.is(Kind::dict)) {
    runtime.work(4 * object.dict().entries.size());
    if (const Value* found = find_in_dict(object.dict(), name)) return *found;
  }
  return no_attribute(object, name);
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  const Value item = subscript(runtime, object, key);
  if (!item.is_missing()) return item;
  if (!key.is_string()) {
    const Value shown = to_repr(runtime, key);
    return Value::undefined(described(object) + " has no element " + std::string(shown.bytes()));
  }
  const Value own = own_attribute(runtime, object, key.bytes());
  return own.is_missing() ? no_attribute(object, key.bytes()) : own;
}

bool has_method(const Value& object, std::string_view name) {
  switch (object.kind) {
    case Kind::string: return is_string_method(name);
    case Kind::dict: return listed(kDictMethods, name);
    case Kind::list: return listed(kSequenceMethods, name) || name == "copy";
    case Kind::tuple:
    case Kind::range: return listed(kSequenceMethods, name);
    case Kind::cycler: return listed(kCyclerMethods, name);
    case Kind::loop: return listed(kLoopMethods, name);
    default: return false;
  }
}

Value call_method(Runtime& runtime, const Value& object, std::string_view name, const Arguments& arguments) {
  switch (object.kind) {
    case Kind::string: return call_string_method(runtime, object, name, arguments);
    case Kind::dict: return call_dict_method(runtime, object, name, arguments);
    case Kind::cycler: return call_cycler_method(runtime, *static_cast<Cycler*>(object.object), name, arguments);
    case Kind::list:
    case Kind::tuple:
      if (name == "copy") return object;
      return call_sequence_method(runtime, object, name, arguments);
    case Kind::range:
      return call_sequence_method(runtime, runtime.make_list(to_items(runtime, object)), name, arguments);
    default: return runtime.fail("'" + described(object) + "' has no method '" + std::string(name) + "'");
  }
}

Value get_path(Runtime& runtime, const Value& object, const Value& path, const Value& absent) {
  if (path.is_missing() || path.is_none()) return object;
  const auto take = [&](const Value& from, const Value& key) {
    const Value item = get_item(runtime, from, key);
    return item.is_undefined() && !absent.is_missing() && !absent.is_none() ? absent : item;
  };
  if (!path.is_string()) return take(object, path);
  Value value = object;
  std::string_view rest = path.bytes();
  while (runtime.work(32)) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string part(rest.substr(0, dot));
    const bool digits = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    int64_t index = 0;
    value = take(value, digits && parse_integer(part, 10, index) ? Value::of_int(index) : Value::literal(part));
    if (dot == rest.size()) break;
    rest.remove_prefix(dot + 1);
  }
  return value;
}

}  // namespace pagoda::text::jinja
