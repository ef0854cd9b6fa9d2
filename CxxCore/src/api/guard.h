// Converts exceptions to a Status, and counts references of the classes shared with Swift.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "pagoda/status.h"

namespace pagoda::api {

// Only the code if there is no memory left for the message.
inline Status failed(StatusCode code, const char* message) noexcept {
  Status status{code, {}};
  try {
    status.message = message;
  } catch (...) {
  }
  return status;
}

// Runs `body`, which returns a Status; no exception escapes.
template <class Body>
Status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failed(StatusCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return failed(StatusCode::internal, error.what());
  } catch (...) {
    return failed(StatusCode::internal, "unexpected exception");
  }
}

// The same for a result with a member `status`, which `body` fills.
template <class Result, class Body>
Result guarded_result(Body&& body) noexcept {
  Result result;
  Status status = guarded([&] { return body(result); });
  if (!status.is_ok()) result.status = std::move(status);
  return result;
}

// The value that `body` returns, or an empty one if it throws.
template <class Body>
auto value_or_empty(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return {};
  }
}

inline void retain(int64_t& references) noexcept { __atomic_add_fetch(&references, 1, __ATOMIC_RELAXED); }

// True if that was the last reference.
inline bool release(int64_t& references) noexcept { return __atomic_sub_fetch(&references, 1, __ATOMIC_ACQ_REL) == 0; }

}  // namespace pagoda::api
