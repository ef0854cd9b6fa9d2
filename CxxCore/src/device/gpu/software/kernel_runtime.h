// Runtime calls of kernels on the software device: barriers of a simdgroup or a threadgroup, threadgroup memory,
// atomics. Thread rule: called by fibers of a Worker only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu::software {

constexpr uint32_t kSimdWidth = 32;

void threadgroup_barrier(uint32_t flags, int line) noexcept;
void simdgroup_barrier(uint32_t flags, int line) noexcept;

// Publishes `size` bytes (at most 16) and returns those of all 32 lanes, valid until the lane's second exchange after
// this one.
const void* simd_exchange(const void* value, size_t size, const char* what, int line) noexcept;
// As simd_exchange, but the last lane to arrive folds the 32 values into the first.
const void* simd_reduce(const void* value, size_t size, void (*fold)(void* slots), const char* what, int line) noexcept;
// Fails unless all lanes pass the same pointer and stride (in checked runs).
void require_uniform(const void* pointer, uint64_t stride, const char* what, int line) noexcept;

// Memory of one threadgroup variable, the same for all its threads.
void* threadgroup_variable(int site, const char* name, size_t size, int line) noexcept;
int lane() noexcept;
[[noreturn]] void fail(int line, const char* what) noexcept;

// Counts loop iterations; a threadgroup that exhausts them is in an endless loop.
extern thread_local uint32_t rounds_left;
[[noreturn]] void endless_loop(int line) noexcept;
inline bool count_round(int line) noexcept {
  if (--rounds_left == 0) [[unlikely]]
    endless_loop(line);
  return true;
}

enum class AtomicOp { load, add, max, min, exchange, bit_or, bit_and };
enum class AtomicType { int_, uint_, float_ };
// Returns the old value in `old` (4 bytes).
void atomic(void* at, AtomicType type, AtomicOp op, const void* operand, void* old) noexcept;

}  // namespace pagoda::device::gpu::software
