// Worker: runs one threadgroup at a time, with a fiber for each of its threads. Barriers and simd functions are
// rendezvous between fibers; a waiting fiber switches to the next one that can run.
// Thread rule: one OS thread at a time; while a worker runs, it is that thread's current_worker.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/gpu/backend.h"
#include "device/gpu/software/checker.h"
#include "device/gpu/software/context_switch.h"
#include "device/gpu/software/kernel_runtime.h"
#include "device/gpu/software/options.h"

namespace pagoda::device::gpu::software {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxSimdgroups = kMaxThreads / kSimdWidth;
constexpr size_t kThreadgroupMemoryBytes = 30720;  // of the 32768 that every Apple GPU has: leaves some spare
constexpr int kMaxThreadgroupVariables = 64;       // per .metal file

enum class Wait : uint8_t { ready, simd, barrier, done };

struct Simdgroup;
struct alignas(64) Fiber {
  Context context;
  Simdgroup* simdgroup = nullptr;
  const char* what = nullptr;  // the call it waits in
  int line = 0;
  Wait wait = Wait::ready;
  uint8_t phase = 0;        // selects one of its simdgroup's slots
  uint8_t order_index = 0;  // in its simdgroup's running order
  uint8_t lane = 0;
  Epochs epochs;
  Builtins builtins;
  char* stack_low = nullptr;
  char* stack_high = nullptr;
  void* fake_stack = nullptr;  // for the address sanitizer
};

struct alignas(64) Simdgroup {
  unsigned char slots[2][kSimdWidth * 16];
  uint32_t num_arrived, ready;  // ready: one bit per index in the running order
  uint32_t order_bit;           // 1 << its own index in the running order
  Fiber* fibers;
  const char* what;
  int line;
  uint8_t order[kSimdWidth];  // index -> lane
};

struct Threadgroup {
  Size3 position, groups, threads;
  uint32_t index = 0;  // in the launch
  uint32_t num_groups = 0;
};

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  ~Worker();

  // Allocates space for threadgroups of `num_threads` threads, which is kept for later launches.
  Status reserve(uint32_t num_threads);
  // Runs all threads of `group`; returns "" or the error.
  std::string run(const KernelInfo& kernel, const KernelInputs& inputs, const Threadgroup& group,
                  const Options& options, Checker* checker) noexcept;

  // The running thread, for a Checker; and whether `p` is in the worker's own memory, which kernels also read.
  const Fiber* current() const noexcept { return current_; }
  uint32_t group_index() const noexcept { return group_index_; }
  uint32_t num_threads() const noexcept { return num_threads_; }
  const Fiber& fiber(uint32_t index) const noexcept { return fibers_[index]; }
  bool owns(const void* p) const noexcept;

 private:
  friend struct Rendezvous;
  void begin(const Threadgroup& group) noexcept;
  void choose_order() noexcept;
  void shuffle(uint8_t* order, uint32_t count) noexcept;
  uint64_t next_random() noexcept;
  Fiber* first_ready(uint32_t from_simdgroup, uint32_t from_lane) noexcept;
  void switch_to(Fiber* from, Fiber* to) noexcept;  // null: the scheduler
  void yield(Fiber* fiber) noexcept;
  std::string deadlock() const;
  static void fiber_main();

  std::vector<Fiber> fibers_;
  std::vector<Simdgroup> simdgroups_;
  std::vector<std::pair<char*, size_t>> stacks_;  // memory mappings, by simdgroup
  std::vector<char> arena_;                       // for threadgroup variables, with gaps between them
  Context scheduler_;
  Fiber* current_ = nullptr;
  size_t arena_used_ = 0, arena_touched_ = 0, variables_bytes_ = 0;
  void* variables_[kMaxThreadgroupVariables + 1] = {};  // by site
  uint32_t num_threads_ = 0, num_simdgroups_ = 0, num_done_ = 0;
  uint32_t barrier_arrived_ = 0;
  int barrier_line_ = 0;
  uint32_t ready_simdgroups_ = 0;  // one bit per index in the running order
  uint8_t simdgroup_order_[kMaxSimdgroups], simdgroup_order_index_[kMaxSimdgroups];
  uint64_t random_ = 1;
  const KernelInfo* kernel_ = nullptr;
  const KernelInputs* inputs_ = nullptr;
  const Options* options_ = nullptr;
  Checker* checker_ = nullptr;
  uint32_t group_index_ = 0;
  std::string error_;
  const void* host_stack_ = nullptr;  // for the address sanitizer
  void* host_fake_stack_ = nullptr;
  size_t host_stack_bytes_ = 0;
};

extern thread_local Worker* current_worker;

// Ends the running threadgroup with an error of the current fiber.
[[noreturn]] void fail_at(const char* what, int line, const std::string& detail) noexcept;

}  // namespace pagoda::device::gpu::software
