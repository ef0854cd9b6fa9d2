// The global operator new of the tests: malloc, and a countdown per thread. Array and nothrow forms end here too.
#include "support/failing_allocation.h"

#include <cstdlib>
#include <new>

namespace {

constexpr int64_t kNever = -1;
thread_local int64_t countdown = kNever;  // allocations before the one that fails
thread_local bool has_failed_once = false;

}  // namespace

namespace pagoda::test {

FailingAllocation::FailingAllocation(int64_t index) noexcept {
  has_failed_once = false;
  countdown = index;
}
FailingAllocation::~FailingAllocation() { countdown = kNever; }
bool FailingAllocation::has_failed() noexcept { return has_failed_once; }

UncountedAllocations::UncountedAllocations() noexcept : countdown_(countdown) { countdown = kNever; }
UncountedAllocations::~UncountedAllocations() { countdown = countdown_; }

}  // namespace pagoda::test

void* operator new(std::size_t size) {
  if (countdown != kNever && countdown-- == 0) {  // and ends as kNever
    has_failed_once = true;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
