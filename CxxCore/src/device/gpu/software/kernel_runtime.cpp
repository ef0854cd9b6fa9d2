// Runtime calls of kernels: each either returns immediately or yields to another fiber until all threads have arrived.
#include "device/gpu/software/kernel_runtime.h"

#include <cstring>
#include <string>

#include "base/concat.h"
#include "device/gpu/software/cooperation.h"
#include "device/gpu/software/sanitizer.h"
#include "device/gpu/software/worker.h"

namespace pagoda::device::gpu::software {

constexpr uint32_t kMemDevice = 1, kMemThreadgroup = 2;  // metal::mem_flags

// Access to Worker's private members for the functions that kernels call.
struct Rendezvous {
  [[noreturn]] static void fail(const char* what, int line, const std::string& detail) noexcept {
    Worker& w = *current_worker;
    Fiber* fiber = w.current_;
    w.error_ = concat(w.kernel_->name, line ? concat(" line ", line) : "", ": ", what, " [thread ",
                      fiber->builtins.thread_index_in_threadgroup, " of threadgroup ", w.group_index_, "]: ", detail);
    for (;;) w.switch_to(fiber, nullptr);  // never returns
  }

  // Arrives at a rendezvous of the simdgroup; returns the values of its lanes. The last lane to arrive calls `last`.
  template <class Last>
  static unsigned char* meet(const void* value, size_t size, const char* what, int line, Last last) noexcept {
    Worker& w = *current_worker;
    Fiber* fiber = w.current_;
    Simdgroup& group = *fiber->simdgroup;
    unsigned char* slots = group.slots[fiber->phase];
    fiber->phase ^= 1;
    if (size) std::memcpy(slots + fiber->lane * size, value, size);
    if (group.num_arrived == 0) {
      group.what = what;
      group.line = line;
    } else if (group.line != line || std::strcmp(group.what, what) != 0) {
      fail(what, line, concat("divergence: other lanes of the simdgroup are in ", group.what, " at line ", group.line));
    }
    if (++group.num_arrived < kSimdWidth) {
      fiber->wait = Wait::simd;
      fiber->what = what;
      fiber->line = line;
      w.yield(fiber);
      fiber->wait = Wait::ready;
    } else {
      group.num_arrived = 0;
      last(slots);
      group.ready = ~0u;
      w.ready_simdgroups_ |= group.order_bit;
      if (w.options_->order == Order::random && (w.next_random() & 1)) w.switch_to(fiber, w.first_ready(0, 0));
    }
    return slots;
  }

  static void barrier(uint32_t flags, int line) noexcept {
    Worker& w = *current_worker;
    Fiber* fiber = w.current_;
    if (w.barrier_arrived_ == 0) w.barrier_line_ = line;
    else if (w.barrier_line_ != line)
      fail("threadgroup_barrier", line,
           concat("divergence: other threads are in the threadgroup_barrier at line ", w.barrier_line_));
    if (++w.barrier_arrived_ < w.num_threads_) {
      fiber->wait = Wait::barrier;
      fiber->what = "threadgroup_barrier";
      fiber->line = line;
      w.yield(fiber);
      fiber->wait = Wait::ready;
    } else {
      w.barrier_arrived_ = 0;
      for (uint32_t g = 0; g < w.num_simdgroups_; ++g) w.simdgroups_[g].ready = ~0u;
      w.ready_simdgroups_ = w.num_simdgroups_ == 32 ? ~0u : (1u << w.num_simdgroups_) - 1u;
      if (w.options_->order != Order::forward) w.switch_to(fiber, w.first_ready(0, 0));
    }
    if (flags & kMemDevice) ++fiber->epochs.threadgroup[0];
    if (flags & kMemThreadgroup) ++fiber->epochs.threadgroup[1];
  }

  static void* variable(int site, const char* name, size_t size, int line) noexcept {
    Worker& w = *current_worker;
    if (site > kMaxThreadgroupVariables) fail(name, line, "over 64 threadgroup variables in one file");
    if (w.variables_[site]) return w.variables_[site];
    w.variables_bytes_ += (size + 15) / 16 * 16;
    if (w.variables_bytes_ > kThreadgroupMemoryBytes) fail(name, line, "over 30720 bytes of threadgroup memory");
    char* arena = w.arena_.data();
    const size_t skew = reinterpret_cast<uintptr_t>(arena) % 64;  // variables start at multiples of 64, 64 apart
    w.arena_used_ = (w.arena_used_ + skew + 64 + 63) / 64 * 64 - skew;
    char* at = arena + w.arena_used_;
    w.arena_used_ += size;
    w.variables_[site] = at;
    unpoison(at, size);
    if (w.checker_) w.checker_->add_variable(at, size, name);
    return at;
  }

  static bool checks_uniform() noexcept { return current_worker->options_->check_uniform; }
  static Checker* checker() noexcept { return current_worker->checker_; }
  static Fiber& fiber() noexcept { return *current_worker->current_; }
};

void fail_at(const char* what, int line, const std::string& detail) noexcept { Rendezvous::fail(what, line, detail); }
void fail(int line, const char* what) noexcept { Rendezvous::fail("error", line, what); }
void endless_loop(int line) noexcept {
  Rendezvous::fail("loop", line, "endless loop: the threadgroup has gone through more rounds than any kernel needs");
}

int lane() noexcept { return Rendezvous::fiber().lane; }

int cooperating_thread(uint32_t num_threads, const char* what, int line) noexcept {
  const Builtins& builtins = Rendezvous::fiber().builtins;
  if (builtins.simdgroups_per_threadgroup * kSimdWidth != num_threads)
    Rendezvous::fail(what, line, "the threadgroup has another number of threads than its execution scope");
  Rendezvous::meet(nullptr, 0, what, line, [](void*) {});
  return static_cast<int>(builtins.thread_index_in_threadgroup);
}
void threadgroup_barrier(uint32_t flags, int line) noexcept { Rendezvous::barrier(flags, line); }

void simdgroup_barrier(uint32_t flags, int line) noexcept {
  Rendezvous::meet(nullptr, 0, "simdgroup_barrier", line, [](void*) {});
  Epochs& epochs = Rendezvous::fiber().epochs;
  if (flags & kMemDevice) ++epochs.simdgroup[0];
  if (flags & kMemThreadgroup) ++epochs.simdgroup[1];
}

const void* simd_exchange(const void* value, size_t size, const char* what, int line) noexcept {
  return Rendezvous::meet(value, size, what, line, [](void*) {});
}

const void* simd_reduce(const void* value, size_t size, void (*fold)(void* slots), const char* what,
                        int line) noexcept {
  return Rendezvous::meet(value, size, what, line, fold);
}

void require_uniform(const void* pointer, uint64_t stride, const char* what, int line) noexcept {
  if (!Rendezvous::checks_uniform()) return;
  struct Key {
    const void* pointer;
    uint64_t stride;
  } mine{pointer, stride};
  const Key* all = static_cast<const Key*>(simd_exchange(&mine, sizeof mine, what, line));
  for (uint32_t i = 0; i < kSimdWidth; ++i)
    if (all[i].pointer != pointer || all[i].stride != stride)
      fail_at(what, line, "operands differ between lanes of the simdgroup");
}

void* threadgroup_variable(int site, const char* name, size_t size, int line) noexcept {
  return Rendezvous::variable(site, name, size, line);
}

namespace {

template <class T>
T apply(AtomicOp op, T old, T operand) noexcept {
  switch (op) {
    case AtomicOp::load: return old;
    case AtomicOp::add: return static_cast<T>(old + operand);
    case AtomicOp::max: return operand > old ? operand : old;
    case AtomicOp::min: return operand < old ? operand : old;
    case AtomicOp::exchange: return operand;
    case AtomicOp::bit_or:
      if constexpr (!std::is_same_v<T, float>) return old | operand;
      return old;
    case AtomicOp::bit_and:
      if constexpr (!std::is_same_v<T, float>) return old & operand;
      return old;
  }
  return old;
}

template <class T>
void atomic_as(void* at, AtomicOp op, const void* operand, void* old) noexcept {
  uint32_t* word = static_cast<uint32_t*>(at);
  uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), next = 0;
  T value, change;
  std::memcpy(&change, operand, sizeof change);
  do {
    std::memcpy(&value, &seen, sizeof value);
    const T result = apply(op, value, change);
    std::memcpy(&next, &result, sizeof next);
  } while (!__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  std::memcpy(old, &seen, sizeof seen);
}

}  // namespace

void atomic(void* at, AtomicType type, AtomicOp op, const void* operand, void* old) noexcept {
  if (Checker* checker = Rendezvous::checker()) checker->atomic(at, 4, op != AtomicOp::load);
  switch (type) {
    case AtomicType::int_: return atomic_as<int32_t>(at, op, operand, old);
    case AtomicType::uint_: return atomic_as<uint32_t>(at, op, operand, old);
    case AtomicType::float_: return atomic_as<float>(at, op, operand, old);
  }
}

}  // namespace pagoda::device::gpu::software
