// The part of the software device's runtime that tensor operations need: all threads of a threadgroup perform one
// operation together. Thread rule: called by fibers of a Worker only.
#pragma once

#include <cstdint>

namespace pagoda::device::gpu::software {

// The thread's index in a threadgroup of `num_threads` (any other size is an error), after a rendezvous of its
// simdgroup.
int cooperating_thread(uint32_t num_threads, const char* what, int line) noexcept;

}  // namespace pagoda::device::gpu::software
