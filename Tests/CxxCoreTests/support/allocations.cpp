// The global operator new of the tests: malloc, a count, and a countdown per thread. Array and nothrow forms end here
// too.
#include "support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

// The thread sanitizer links its own operator new, which cannot be replaced.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PAGODA_FOREIGN_OPERATOR_NEW
#endif
#endif

namespace {

constexpr int64_t kNever = -1;
thread_local int64_t countdown = kNever;  // allocations before the one that fails
thread_local bool has_failed_once = false;
std::atomic<bool> is_counting = false;
std::atomic<int64_t> num_allocations = 0;
std::atomic<int64_t> live_bytes = 0;
thread_local int64_t thread_bytes = 0, thread_peak = 0;  // since the last PeakMemory

[[maybe_unused]] void note_bytes(int64_t change) noexcept {
  live_bytes.fetch_add(change, std::memory_order_relaxed);
  thread_bytes += change;
  if (thread_bytes > thread_peak) thread_peak = thread_bytes;
}

[[maybe_unused]] void note_allocation() {
  if (is_counting.load(std::memory_order_relaxed)) num_allocations.fetch_add(1, std::memory_order_relaxed);
  if (countdown != kNever && countdown-- == 0) {  // the countdown ends as kNever
    has_failed_once = true;
    throw std::bad_alloc();
  }
}

[[maybe_unused]] int64_t size_of(void* memory) noexcept {
#ifdef __APPLE__
  return static_cast<int64_t>(malloc_size(memory));
#else
  return static_cast<int64_t>(malloc_usable_size(memory));
#endif
}

[[maybe_unused]] void* given(void* memory) {
  if (!memory) throw std::bad_alloc();
  note_bytes(size_of(memory));
  return memory;
}

[[maybe_unused]] void take_back(void* memory) noexcept {
  if (memory) note_bytes(-size_of(memory));
  std::free(memory);
}

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

bool can_replace_allocations() noexcept {
#ifdef PAGODA_FOREIGN_OPERATOR_NEW
  return false;
#else
  return true;
#endif
}

void begin_counting() noexcept {
  num_allocations = 0;
  is_counting = true;
}

int64_t end_counting() noexcept {
  is_counting = false;
  return num_allocations;
}

PeakMemory::PeakMemory() noexcept { thread_bytes = thread_peak = 0; }
int64_t PeakMemory::num_bytes() const noexcept { return thread_peak; }

int64_t num_live_bytes() noexcept { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace pagoda::test

#ifndef PAGODA_FOREIGN_OPERATOR_NEW
void* operator new(std::size_t size) {
  note_allocation();
  return given(std::malloc(size > 0 ? size : 1));
}

void operator delete(void* memory) noexcept { take_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { take_back(memory); }

void* operator new(std::size_t size, std::align_val_t alignment) {
  note_allocation();
  const auto unit = static_cast<std::size_t>(alignment);
  return given(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory, std::align_val_t) noexcept { take_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { take_back(memory); }
#endif
