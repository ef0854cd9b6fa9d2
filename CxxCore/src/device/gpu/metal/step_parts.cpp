// Estimates the time of a part from its threads. A slow part counts at once, a fast one by half: a part that is too
// long freezes the screen, one that is too short costs some microseconds.
#include "device/gpu/metal/step_parts.h"

#include <algorithm>

namespace pagoda::device::gpu::metal {
namespace {

// The time of a smaller part is that of its launches, not of its threads.
constexpr uint64_t kFewThreads = 100'000;

}  // namespace

bool StepParts::begins_part(uint64_t num_threads) noexcept {
  const double seconds = static_cast<double>(num_threads_ + num_threads) * seconds_per_thread_;
  const bool begins = num_threads_ == 0 || seconds > max_seconds_;
  num_threads_ = begins ? num_threads : num_threads_ + num_threads;
  return begins;
}

void StepParts::note(uint64_t num_threads, double seconds) noexcept {
  if (num_threads < kFewThreads || !(seconds > 0)) return;
  const double rate = seconds / static_cast<double>(num_threads);
  seconds_per_thread_ = std::max(rate, (seconds_per_thread_ + rate) / 2);
}

}  // namespace pagoda::device::gpu::metal
