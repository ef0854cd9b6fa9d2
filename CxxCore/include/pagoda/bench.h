// Limits of this machine, measured: what the speed of a model is compared with.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/status.h"

namespace pagoda {

// Of `num_threads` threads together. An operation is a multiplication or an addition; an instruction is the one that
// reached the peak, among all that this machine has.
struct MachineLimits {
  Status status;
  int32_t num_threads = 0;
  double read_bytes_per_second = 0;  // of memory, from a buffer far larger than the caches
  double int8_ops_per_second = 0;
  double bf16_ops_per_second = 0;  // never below f32: bfloat16 numbers may be multiplied as float32 ones
  double f32_ops_per_second = 0;
  std::string int8_instruction;
  std::string bf16_instruction;
  std::string f32_instruction;
};

// Takes about a second and 512 MiB; other work on the machine makes the limits look lower. 0 threads = one per core.
MachineLimits measure_limits(int32_t num_threads) noexcept;

}  // namespace pagoda
