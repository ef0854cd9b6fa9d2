// DeviceFaults: asks the device for its health, and counts failures.
#include "engine/core/device_faults.h"

#include "device/support.h"

namespace pagoda::engine {

void DeviceFaults::note(const Status& status) noexcept {
  constexpr int32_t kMaxFailedSteps = 3;
  if (status.is_ok()) {
    num_failed_steps_ = 0;
    fault_ = {};
    return;
  }
  if (status.code != StatusCode::device_error) return;
  is_dead_ = device_ && !device::health(*device_).is_ok();
  if (is_dead_ || ++num_failed_steps_ >= kMaxFailedSteps) fault_ = copy_of(status);
}

std::string DeviceFaults::text() const {
  if (fault_.is_ok()) return {};
  return fault_.message.empty() ? "device error" : fault_.message;
}

}  // namespace pagoda::engine
