// Loops that do nothing but one kind of work as fast as an instruction set can: the material of measured limits.
// The tables list what this machine can run; the loops of each instruction set are compiled with its own attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pagoda/profile.h"

namespace pagoda::bench {

// `run` multiplies `rounds` times; `scratch` is kScratchBytes of the thread's own, 64-byte aligned, all bytes 1: they
// are in the L1 cache, which loops that cannot keep operands in registers read from.
struct ArithmeticLoop {
  OpLimit kind;  // int8, bf16 or f32
  const char* instruction;
  double operations_per_round;
  void (*run)(int64_t rounds, const std::byte* scratch) noexcept;
};
inline constexpr size_t kScratchBytes = 24 << 10;

// Reads four streams side by side: one alone does not fill the memory controller. `size_bytes` is a multiple of
// kReadUnit. Returns something that depends on every byte.
using ReadLoop = uint64_t (*)(const std::byte* data, size_t size_bytes) noexcept;
inline constexpr size_t kNumStreams = 4, kReadUnit = kNumStreams * 256;

// Empty where the instruction set is not of this machine.
std::vector<ArithmeticLoop> x86_loops();
std::vector<ArithmeticLoop> arm_loops();
std::vector<ArithmeticLoop> portable_loops();  // for the others: what the compiler makes of plain C++

ReadLoop read_loop() noexcept;  // the widest loads there are

}  // namespace pagoda::bench
