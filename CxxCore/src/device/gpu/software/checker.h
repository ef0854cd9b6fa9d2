// Checker: what a build with instrumented kernels hangs into the software device to see every access to memory.
// Other builds have none. Its implementation is in Tests/Kernels/check.
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
  // Launches of one epoch have no barrier between them.
  virtual void begin_launch(std::string_view kernel, std::span<const Region> regions, uint32_t epoch) noexcept = 0;
  virtual void begin_threadgroup() noexcept = 0;
  virtual void add_variable(char* at, size_t size, const char* name) noexcept = 0;
  virtual void atomic(void* at, size_t size, bool is_write) noexcept = 0;
};

}  // namespace pagoda::device::gpu::software
