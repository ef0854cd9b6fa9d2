// EagerEncoder: an encoder whose ops run as they arrive; submit() only collects what went wrong since the last one.
// State: the first fault of the step being encoded, and the verdict of the step submitted last.
#pragma once

#include <utility>

#include "device/device.h"
#include "device/host/index_checks.h"

namespace pagoda::device::host {

class EagerEncoder : public Encoder, private Pending {
 public:
  Pending& submit() noexcept final {
    verdict_ = std::exchange(fault_, Status{});
    return *this;
  }

 protected:
  // Whether the indices in `args` are good; if not, the step fails and the op must not run.
  template <class Args>
  bool accept(const Args& args) noexcept {
    Status status = check_indices(args);
    if (status.is_ok()) return true;
    if (fault_.is_ok()) fault_ = std::move(status);
    return false;
  }

 private:
  Status wait() noexcept final { return verdict_; }

  Status fault_, verdict_;
};

}  // namespace pagoda::device::host
