// FlushDenormals: RAII guard that flushes denormal floats to zero on this thread, as inputs and results.
#pragma once

#include <cstdint>

namespace pagoda::device::cpu {

class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() noexcept : saved_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(saved_ | 0x8040); }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FlushDenormals() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(saved_)::"memory");
    asm volatile("msr fpcr, %0" ::"r"(saved_ | (uint64_t{1} << 24)) : "memory");
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(saved_) : "memory"); }

 private:
  uint64_t saved_;
#endif
};

}  // namespace pagoda::device::cpu
