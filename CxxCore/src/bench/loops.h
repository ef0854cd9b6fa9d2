// Microbenchmark loops that do one kind of work at an instruction set's peak rate, for measuring hardware limits.
// The tables list the loops that this machine can run; those of each instruction set are compiled with its attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pagoda/profile.h"

namespace pagoda::bench {

// `run` multiplies `rounds` times; `scratch` is kScratchBytes per thread, 64-byte aligned, all bytes 1. It fits in L1,
// for loops that cannot keep their operands in registers.
struct ArithmeticLoop {
  OpLimit kind;  // int8, bf16 or f32
  const char* instruction;
  double operations_per_round;
  void (*run)(int64_t rounds, const std::byte* scratch) noexcept;
};
inline constexpr size_t kScratchBytes = 24 << 10;

// Reads four streams in parallel: one alone does not saturate the memory controller. `size_bytes` is a multiple of
// kReadUnit. Returns a value that depends on every byte.
using ReadLoop = uint64_t (*)(const std::byte* data, size_t size_bytes) noexcept;
inline constexpr size_t kNumStreams = 4, kReadUnit = kNumStreams * 256;

// Empty if this machine lacks the instruction set.
std::vector<ArithmeticLoop> x86_loops();
std::vector<ArithmeticLoop> arm_loops();
std::vector<ArithmeticLoop> portable_loops();  // fallback: plain C++ as the compiler vectorises it

ReadLoop read_loop() noexcept;  // uses the widest loads available

}  // namespace pagoda::bench
