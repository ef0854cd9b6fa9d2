// Arguments of one call, and their binding to parameter names.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  // One value per parameter, missing if not passed. Fails on unknown names, on too many values, and if one of the first
  // `num_required` is absent.
  std::vector<Value> bind(Runtime& runtime, std::string_view callee, std::initializer_list<const char*> parameters,
                          size_t num_required) const;
};

// Reads an integer argument; returns `absent` if it was not passed (or is None).
int64_t integer_or(Runtime& runtime, const Value& argument, int64_t absent, const char* what);

}  // namespace pagoda::text::jinja
