// Status: the result of every fallible call. One list of codes for the whole engine; shortage is a code, not an
// exception.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "pagoda/swift_bridging.h"

namespace pagoda {

enum class StatusCode : int32_t {
  ok = 0,
  invalid_argument,    // the caller passed an argument that can never work; the message names the field
  not_found,           // a file, model or request that does not exist
  io_error,            // the operating system refused a read or an open
  bad_file,            // a file whose content violates its format; the message names file, tensor or key, and reason
  unsupported,         // a valid input that this engine does not support (an architecture, a dtype, a device)
  context_overflow,    // the prompt and the requested tokens exceed the context length
  out_of_memory,       // the memory plan or an allocation does not fit; the message has the numbers
  resource_exhausted,  // may succeed later: queue full, budget of steps or output exhausted
  cancelled,           // the request was cancelled by its owner
  device_error,        // a device failed during a step; requests in flight fail, the engine continues
  shut_down,           // the engine has been closed
  internal,            // a bug in Pagoda
};

struct [[nodiscard]] Status {
  StatusCode code = StatusCode::ok;
  std::string message;
  // What the error is about: the field of EngineOptions or Request as the headers write it, such as "max_num_seqs", so
  // that a client can tell its user by its own name; "dry_base" for one of a nested struct. A literal; null if the
  // error is about no single field. Where the message has this word, a client may replace it.
  const char* PAGODA_NULLABLE field = nullptr;

  bool is_ok() const noexcept { return code == StatusCode::ok; }
};

inline Status ok_status() noexcept { return {}; }

inline Status make_error(StatusCode code, std::string message) noexcept { return {code, std::move(message)}; }

inline Status make_field_error(StatusCode code, const char* PAGODA_NONNULL field, std::string message) noexcept {
  return {code, std::move(message), field};
}

}  // namespace pagoda
