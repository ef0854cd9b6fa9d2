// EagerEncoder: an encoder that runs ops as they are recorded; submit() only returns the first error of the step.
// State: the first error of the step being recorded, and the status of the last submitted step.
#pragma once

#include <type_traits>
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
  // Runs an op, which may return a Status; an error fails the step.
  template <class Run>
  void attempt(Run&& run) noexcept {
    if constexpr (std::is_void_v<std::invoke_result_t<Run>>) run();
    else check(run());
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
