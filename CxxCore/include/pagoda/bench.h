// Limits of this machine, measured: what the speed of a model is compared with.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/status.h"

namespace pagoda {

// Of `num_threads` threads together, or of a GPU. An operation is a multiplication or an addition; an instruction is
// the one that reached the peak, among all that this machine has; on a GPU it is the kernel that multiplied.
struct MachineLimits {
  Status status;
  int32_t num_threads = 0;           // 0: of a GPU
  double read_bytes_per_second = 0;  // of memory, from a buffer far larger than the caches; on a GPU read and written
  double int8_ops_per_second = 0;
  double bf16_ops_per_second = 0;  // never below f32: bfloat16 numbers may be multiplied as float32 ones
  double f32_ops_per_second = 0;
  std::string int8_instruction;
  std::string bf16_instruction;
  std::string f32_instruction;
};

// Takes about a second and 512 MiB; other work on the machine makes the limits look lower. 0 threads = one per core.
MachineLimits measure_limits(int32_t num_threads) noexcept;

// Of a device that runs kernels, by its name in EngineOptions::device: the bandwidth of its copies, and the rate of its
// matrix products of 16-bit numbers, which those of 8 and 4 bits are made of too. unsupported for a device whose limits
// are measure_limits()'s.
MachineLimits measure_device_limits(const std::string& device, int32_t num_threads) noexcept;

}  // namespace pagoda
