// Binds call arguments.
#include "text/jinja/arguments.h"

#include "base/concat.h"

namespace pagoda::text::jinja {

std::vector<Value> Arguments::bind(Runtime& runtime, std::string_view callee,
                                   std::initializer_list<const char*> parameters, size_t num_required) const {
  std::vector<Value> bound(parameters.size());
  const std::string name(callee);
  if (positional.size() > parameters.size())
    runtime.fail(concat(name, "() takes at most ", parameters.size(), " argument(s), got ", positional.size()));
  for (size_t i = 0; i < positional.size() && i < bound.size(); ++i) bound[i] = positional[i];
  for (const auto& [key, value] : named) {
    size_t index = 0;
    while (index < bound.size() && key != parameters.begin()[index]) ++index;
    if (index == bound.size()) runtime.fail(name + "() got an unexpected keyword argument '" + key + "'");
    else if (!bound[index].is_missing()) runtime.fail(name + "() got multiple values for argument '" + key + "'");
    else bound[index] = value;
  }
  for (size_t i = 0; i < num_required; ++i) {
    if (!bound[i].is_missing()) continue;
    runtime.fail(name + "() missing required argument '" + parameters.begin()[i] + "'");
    bound[i] = Value::undefined({});
  }
  return bound;
}

int64_t integer_or(Runtime& runtime, const Value& argument, int64_t absent, const char* what) {
  if (argument.is_missing() || argument.is_none()) return absent;
  if (argument.is_integral()) return argument.integer;
  if (argument.is_undefined()) runtime.fail_undefined(argument);
  runtime.fail(std::string(what) + " must be an integer, not " + type_name(argument));
  return absent;
}

}  // namespace pagoda::text::jinja
