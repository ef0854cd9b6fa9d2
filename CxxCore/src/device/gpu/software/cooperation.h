// What tensor operations need of the software device's runtime: all threads of a threadgroup that do one thing
// together. Thread rule: called by fibers of a Worker only.
#pragma once

#include <cstdint>

namespace pagoda::device::gpu::software {

// The thread's index in a threadgroup of `num_threads`, another number is an error; its simdgroup meets.
int cooperating_thread(uint32_t num_threads, const char* what, int line) noexcept;

}  // namespace pagoda::device::gpu::software
