// Result: a Status and, when it is ok, a value.
#pragma once

#include <optional>
#include <utility>

#include "pagoda/status.h"

namespace pagoda {

template <class T>
struct [[nodiscard]] Result {
  Status status;
  std::optional<T> value;

  Result(T v) : value(std::move(v)) {}                 // NOLINT: implicit on purpose, `return value;`
  Result(Status s) noexcept : status(std::move(s)) {}  // NOLINT: implicit on purpose, `return error;`
  bool is_ok() const noexcept { return status.is_ok(); }
  T& operator*() noexcept { return *value; }
  const T& operator*() const noexcept { return *value; }
  T* operator->() noexcept { return &*value; }
  const T* operator->() const noexcept { return &*value; }
};

}  // namespace pagoda

// Returns the status of `expression` from the enclosing function if it is not ok.
#define PAGODA_RETURN_IF_ERROR(expression)              \
  do {                                                  \
    ::pagoda::Status pagoda_status_ = (expression);     \
    if (!pagoda_status_.is_ok()) return pagoda_status_; \
  } while (false)
