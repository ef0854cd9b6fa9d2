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
    finish();
    verdict_ = std::exchange(fault_, Status{});
    return *this;
  }

 protected:
  // Whether the indices in `args` are good; if not, the step fails and the op must not run.
  template <class Args>
  bool accept(const Args& args) noexcept {
    return check(check_indices(args));
  }

  // Whether `status` is good; if not, the step fails.
  bool check(Status status) noexcept {
    if (status.is_ok()) return true;
    if (fault_.is_ok()) fault_ = std::move(status);
    return false;
  }

  virtual void finish() noexcept {}  // runs what an encoder has put off

 private:
  Status wait() noexcept final { return verdict_; }

  Status fault_, verdict_;
};

}  // namespace pagoda::device::host
