// Statuses of steps that fail, made without memory where there is none.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/result.h"

namespace pagoda::engine {

// Short enough to be made without memory.
inline Status out_of_memory() noexcept { return {StatusCode::out_of_memory, "out of memory"}; }

// Without its message where there is no memory for it.
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

}  // namespace pagoda::engine
