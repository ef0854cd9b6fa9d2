// ConvChannels: convolves some channels of one sequence, a few rows at a time and in order.
#pragma once

#include <cstdint>

#include "device/cpu/kernels.h"
#include "device/device.h"

namespace pagoda::device::cpu {

class ConvChannels {
 public:
  // Channels [first, first + count).
  ConvChannels(const CausalConv1dArgs& args, int64_t sequence, int64_t first, int64_t count) noexcept;

  // Writes rows [row, row + rows) of the step to `out` [rows][count].
  void run(const Kernels& kernels, int64_t row, int64_t rows, float* out, int64_t out_stride) const noexcept;
  void write_tail() const noexcept;  // after the last row: stores the last inputs in the ring

 private:
  const CausalConv1dArgs& args_;
  int64_t begin_, end_;  // rows of the sequence in this step
  int64_t position_;     // of row begin_
  int64_t first_, count_;
  float* tail_;  // the sequence's, at the first channel
};

}  // namespace pagoda::device::cpu
