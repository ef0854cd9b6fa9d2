// Checker: a hook with which tests observe the launches of a software device and, if kernels are instrumented
// (Tools/kernel_check), every memory access. Other builds have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pagoda::device::gpu::software {

// How many barriers a thread has passed, by the memory they order: 0 device, 1 threadgroup.
struct Epochs {
  uint32_t threadgroup[2] = {}, simdgroup[2] = {};
};

// Memory that a launch may touch.
struct Region {
  char* low = nullptr;
  char* high = nullptr;
  std::string_view name;
  bool written = false;
};

class Checker {
 public:
  virtual ~Checker() = default;
  virtual void begin_launch(std::span<const Region> regions) noexcept = 0;
  virtual void end_launch([[maybe_unused]] std::string_view kernel,
                          [[maybe_unused]] std::span<const Region> regions) noexcept {}
  virtual void begin_threadgroup() noexcept = 0;
  virtual void add_variable(char* at, size_t size, const char* name) noexcept = 0;
  virtual void atomic(void* at, size_t size, bool is_write) noexcept = 0;
};

// The checker of every software device created from now on; null in builds without one.
inline Checker*& installed_checker() noexcept {
  static Checker* checker = nullptr;
  return checker;
}

}  // namespace pagoda::device::gpu::software
