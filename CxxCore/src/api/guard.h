// The one place where exceptions become a Status, and the reference counts of the classes that Swift shares.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "pagoda/status.h"

namespace pagoda::api {

// The code alone when there is no memory left for the words.
inline Status failed(StatusCode code, const char* message) noexcept {
  Status status{code, {}};
  try {
    status.message = message;
  } catch (...) {
  }
  return status;
}

// Runs `body`, which returns a Status; nothing that it throws leaves.
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

// True when that was the last reference.
inline bool release(int64_t& references) noexcept { return __atomic_sub_fetch(&references, 1, __ATOMIC_ACQ_REL) == 0; }

}  // namespace pagoda::api
