// PolicyFile: what the speculation policy has learned about a model on a device, in the user's cache folder, so that
// the first answer of the next process gains too. Answers never depend on it. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "speculate/policy.h"

namespace pagoda::engine {

class PolicyFile {
 public:
  PolicyFile() = default;  // nothing is read or written

  // `folder`: "" = nowhere. `identity`: everything that the cost of steps and the acceptance of drafts depend on.
  PolicyFile(const std::string& folder, const std::string& identity);

  // Null if there is no file, or one that is damaged or of another format: it is overwritten later.
  std::shared_ptr<const speculate::Policy> read() noexcept;

  // Whether the policy has seen enough since it was read or written.
  bool is_due(const speculate::Policy& policy) const noexcept;

  // Replaces the file, without waiting for the disk. On any error the next process learns anew.
  void write(const speculate::Policy& policy) noexcept;

 private:
  std::string path_;
  int64_t num_steps_kept_ = 0;
};

}  // namespace pagoda::engine
