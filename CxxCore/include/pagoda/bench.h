// Measured limits of this machine, for comparison with the speed of a model.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/status.h"

namespace pagoda {

// Limits of `num_threads` threads together, or of a GPU. An operation is a multiplication or an addition. The
// instruction is the one that reached the peak, of all that this machine supports; on a GPU it is the kernel.
struct MachineLimits {
  Status status;
  int32_t num_threads = 0;           // 0: a GPU
  double read_bytes_per_second = 0;  // from a buffer far larger than the caches; on a GPU bytes read and written
  double int8_ops_per_second = 0;
  double bf16_ops_per_second = 0;  // never below f32: bfloat16 numbers may be multiplied as float32
  double f32_ops_per_second = 0;
  std::string int8_instruction;
  std::string bf16_instruction;
  std::string f32_instruction;
};

// Takes about a second and 512 MiB; other work on the machine lowers the result. 0 threads = one per core.
MachineLimits measure_limits(int32_t num_threads) noexcept;

// Limits of a device that runs kernels, by its name in EngineOptions::device: the bandwidth of its copies, and the rate
// of its matrix products of 16-bit numbers, which products of 8 and 4 bits also use. Returns unsupported for a device
// whose limits are those of measure_limits().
MachineLimits measure_device_limits(const std::string& device, int32_t num_threads) noexcept;

}  // namespace pagoda
