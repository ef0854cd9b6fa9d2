// FailingAllocation: lets one allocation of this thread fail, by number, so that a test can try every one of them.
#pragma once

#include <cstdint>

namespace pagoda::test {

// While it lives, operator new throws std::bad_alloc in this thread once, at allocation `index` (0 is the next one).
// Only one may live per thread.
class FailingAllocation {
 public:
  explicit FailingAllocation(int64_t index) noexcept;
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  static bool has_failed() noexcept;  // in this thread, since the last one was made
};

// For what belongs to the test itself: allocations are neither counted nor do they fail.
class UncountedAllocations {
 public:
  UncountedAllocations() noexcept;
  ~UncountedAllocations();
  UncountedAllocations(const UncountedAllocations&) = delete;
  UncountedAllocations& operator=(const UncountedAllocations&) = delete;

 private:
  int64_t countdown_;
};

}  // namespace pagoda::test
