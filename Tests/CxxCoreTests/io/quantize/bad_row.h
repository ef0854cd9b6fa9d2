// Bad input as rows of a table: a name, the bytes, the code they must give and a part of the message.
#pragma once

#include <string>

#include "pagoda/status.h"
#include "support/test.h"

namespace pagoda::test {

inline void check_row(const std::string& row, const Status& status, StatusCode code, const std::string& message) {
  if (status.code == code && status.message.find(message) != std::string::npos) return;
  fail(__FILE__, __LINE__,
       row + ": code " + std::to_string(static_cast<int>(status.code)) + " instead of " +
           std::to_string(static_cast<int>(code)) + ", message: " + status.message);
}

}  // namespace pagoda::test
