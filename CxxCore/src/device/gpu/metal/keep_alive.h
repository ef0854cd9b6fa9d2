// KeepAlive: when to ask the system again to keep memory resident: twice a second, until three minutes after the last
// use. The times are those that llama.cpp's users have found good. Pure: the caller gives the time in seconds.
#pragma once

#include <optional>

namespace pagoda::device::gpu::metal {

class KeepAlive {
 public:
  static constexpr double kPeriodSeconds = 0.5, kIdleSeconds = 180;

  void note_use(double now) noexcept { last_use_ = now; }
  // Seconds until the next request; none: wait for the next use.
  std::optional<double> next(double now) const noexcept {
    if (!last_use_ || now - *last_use_ >= kIdleSeconds) return std::nullopt;
    return kPeriodSeconds;
  }

 private:
  std::optional<double> last_use_;
};

}  // namespace pagoda::device::gpu::metal
