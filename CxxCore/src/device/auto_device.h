// `--device auto`: the first GPU that passes a self-test against the CPU, else the CPU, with the reason.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/support.h"

namespace pagoda::device {

struct AutoCandidate {
  std::string name;
  std::function<Result<std::unique_ptr<Device>>()> make;
  std::string version;  // of its kernels; a result applies to one version
};

struct AutoOptions {
  std::string verdict_folder;  // caches self-test results by description and version; "" = nowhere
  double max_seconds = 30;     // per candidate, including the first compilation of its kernels
  KernelNeeds needs = {};      // of the model; a candidate without these kernels is not used
};

struct AutoChoice {
  std::unique_ptr<Device> device;  // null: no candidate was usable
  std::string reason;              // why the first candidate was not used; empty if there is none
};

// Candidates in order. Each is tried on its own thread, which is abandoned if its driver never responds.
AutoChoice choose_device(const std::vector<AutoCandidate>& candidates,
                         const std::function<Result<std::unique_ptr<Device>>()>& make_trusted,
                         const AutoOptions& options);

}  // namespace pagoda::device
