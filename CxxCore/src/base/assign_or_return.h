// PAGODA_ASSIGN_OR_RETURN: takes the value of a Result, or returns its error from the enclosing function.
#pragma once

#include <utility>

#include "base/result.h"

#define PAGODA_JOIN_NAMES_(a, b) a##b
#define PAGODA_JOIN_NAMES(a, b) PAGODA_JOIN_NAMES_(a, b)
#define PAGODA_ASSIGN_OR_RETURN_(result, target, ...) \
  auto result = (__VA_ARGS__);                        \
  if (!result.is_ok()) return result.status;          \
  target = std::move(*result)

// PAGODA_ASSIGN_OR_RETURN(auto file, open(path)); declares `file`. The last argument may have commas.
#define PAGODA_ASSIGN_OR_RETURN(target, ...) \
  PAGODA_ASSIGN_OR_RETURN_(PAGODA_JOIN_NAMES(pagoda_result_, __LINE__), target, __VA_ARGS__)
