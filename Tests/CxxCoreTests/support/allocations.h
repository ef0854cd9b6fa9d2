// The heap under test: counts the allocations and bytes of the program, or makes one allocation of this thread fail, by
// number.
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

  static bool has_failed() noexcept;  // in this thread, since the last one was created
};

// For the test's own allocations, which are not counted and never fail.
class UncountedAllocations {
 public:
  UncountedAllocations() noexcept;
  ~UncountedAllocations();
  UncountedAllocations(const UncountedAllocations&) = delete;
  UncountedAllocations& operator=(const UncountedAllocations&) = delete;

 private:
  int64_t countdown_;
};

bool can_replace_allocations() noexcept;  // false: nothing here counts or fails

// Allocations of all threads since `begin_counting`, which also restarts the count.
void begin_counting() noexcept;
int64_t end_counting() noexcept;

// Bytes that all threads have allocated with operator new and not freed, as the heap counts them.
int64_t num_live_bytes() noexcept;

// The most bytes that this thread has allocated beyond those it had when this was created. Only one may live per
// thread.
class PeakMemory {
 public:
  PeakMemory() noexcept;
  int64_t num_bytes() const noexcept;
};

}  // namespace pagoda::test
