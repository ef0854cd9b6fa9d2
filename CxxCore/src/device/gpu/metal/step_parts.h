// StepParts: where a step is cut into command buffers. A GPU that draws the screen does so between command buffers,
// never inside one; the step itself may be long, which prompts need. Pure: no clock, no device.
#pragma once

#include <cstdint>

namespace pagoda::device::gpu::metal {

class StepParts {
 public:
  // Every part should take at most `max_seconds` on the device.
  explicit StepParts(double max_seconds) noexcept : max_seconds_(max_seconds) {}

  void begin_step() noexcept { num_threads_ = 0; }
  // Whether the next launch of the step, of this many threads, begins a part. The first one does.
  bool begins_part(uint64_t num_threads) noexcept;
  // Records that a part of this many threads took `seconds` on the device.
  void note(uint64_t num_threads, double seconds) noexcept;

 private:
  double max_seconds_;
  // By a thread, over a whole part. Kernels differ, but the mix of a model's layer repeats itself. The first value
  // is a guess; later ones are measured.
  double seconds_per_thread_ = 60e-9;
  uint64_t num_threads_ = 0;  // of the part so far; 0: the step has none
};

}  // namespace pagoda::device::gpu::metal
