// Switches between stacks of one OS thread: with a few instructions on x86-64 and aarch64, with ucontext elsewhere.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(PAGODA_UCONTEXT)
#define PAGODA_UCONTEXT 1
#endif
#ifdef PAGODA_UCONTEXT
#include <ucontext.h>
#endif

namespace pagoda::device::gpu::software {

// The saved state of a stack that is not running.
struct Context {
#ifdef PAGODA_UCONTEXT
  ucontext_t state;
#else
  void* stack_pointer = nullptr;
#endif
};

// Sets up `context` to start `entry` on the stack [low, high) when it is switched to. `entry` never returns.
void prepare_context(Context& context, char* low, char* high, void (*entry)()) noexcept;

void switch_context(Context& from, Context& to) noexcept;

}  // namespace pagoda::device::gpu::software
