// Statuses of failed steps, created without allocation if there is no memory.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/result.h"

namespace pagoda::engine {

// The message is short enough to need no allocation.
inline Status out_of_memory() noexcept { return {StatusCode::out_of_memory, "out of memory"}; }

// A copy, without the message if there is no memory for it.
inline Status copy_of(const Status& status) noexcept {
  try {
    return status;
  } catch (const std::bad_alloc&) {
    return {status.code, {}};
  }
}

// Why a step failed. No message is built when memory ran out.
inline Status status_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    try {
      return make_error(StatusCode::internal, std::string("a step failed: ") + error.what());
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }
}

// Runs `work`, which returns a Status.
template <class Work>
Status run_guarded(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::exception&) {
    return status_of_exception();
  }
}

}  // namespace pagoda::engine
