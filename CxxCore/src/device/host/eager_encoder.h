// EagerEncoder: an encoder that runs ops as they are recorded; submit() only returns the first error of the step.
// State: the first error of the step being recorded, and the status of the last submitted step.
#pragma once

#include <utility>

#include "device/device.h"
#include "device/host/index_checks.h"

namespace pagoda::device::host {

class EagerEncoder : public Encoder, private Pending {
 public:
  bool can(Op op) const noexcept final { return op != Op::argmax && op != Op::sample; }  // the host has the logits
  Pending& submit() noexcept final {
    finish();
    verdict_ = std::exchange(fault_, Status{});
    return *this;
  }

 protected:
  // Whether the indices in `args` are valid; if not, the step fails and the op must not run.
  template <class Args>
  bool accept(const Args& args) noexcept {
    return check(check_indices(args));
  }

  // Whether `status` is ok; if not, the step fails.
  bool check(Status status) noexcept {
    if (status.is_ok()) return true;
    if (fault_.is_ok()) fault_ = std::move(status);
    return false;
  }

  bool has_fault() const noexcept { return !fault_.is_ok(); }

  virtual void finish() noexcept {}  // runs ops that the encoder has deferred

 private:
  Status wait() noexcept final { return verdict_; }

  Status fault_, verdict_;
};

}  // namespace pagoda::device::host
