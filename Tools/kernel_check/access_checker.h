// AccessChecker: observes every memory access of instrumented kernels, and aborts the threadgroup on one that is
// - outside the bindings of the launch, the threadgroup's variables and the thread's own stack,
// - a write to memory declared const,
// - a read of threadgroup memory not yet written in this threadgroup,
// - in conflict with another thread's access and not ordered by a barrier that covers the memory.
// State: a shadow of the memory the running launch may write, and of the threadgroup's variables. Single threaded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/gpu/software/checker.h"

namespace pagoda::device::gpu::software {

class AccessChecker final : public Checker {
 public:
  void begin_launch(std::span<const Region> regions) noexcept override;
  void begin_threadgroup() noexcept override { variables_.clear(); }
  void add_variable(char* at, size_t size, const char* name) noexcept override;
  void atomic(void* at, size_t size, bool is_write) noexcept override;
  void access(void* at, size_t size, bool is_write, const void* pc, bool is_atomic) noexcept;

 private:
  // The last access to a byte: 1 + index of the thread in the launch (0: none), and the barriers it had passed.
  struct Stamp {
    uint32_t thread;
    uint16_t threadgroup_barriers, simdgroup_barriers;
  };
  struct Cell {
    Stamp write, read[2];
    bool atomic_write;
  };
  struct Access {
    size_t size;
    bool is_write, is_atomic;
    const void* pc;
  };
  struct Tracked {
    Region region;
    int space = 0;                  // index of Epochs: 0 device, 1 threadgroup
    std::shared_ptr<Cell[]> cells;  // one per byte; null for read-only memory
  };
  static std::shared_ptr<Cell[]> make_cells(size_t count);
  Tracked* find(const char* at) noexcept;
  void check_cell(const Tracked& tracked, Cell& cell, const Stamp& now, const char* at, const Access& access);
  [[noreturn]] static void fail_access(const Access& access, const std::string& what);
  std::string neighbour(const char* at) const;

  std::vector<Tracked> memory_, variables_;
};

}  // namespace pagoda::device::gpu::software
