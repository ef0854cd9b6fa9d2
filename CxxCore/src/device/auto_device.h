// `--device auto`: the first GPU that passes a self-test against the CPU, else the CPU, with the reason.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace pagoda::device {

struct AutoCandidate {
  std::string name;
  std::function<Result<std::unique_ptr<Device>>()> make;  // `unsupported` where the machine has none: no reason to tell
  std::string version;                                    // of its kernels; a verdict holds for one of them
};

struct AutoOptions {
  std::string verdict_folder;  // keeps what a device was found to be, by its description and version; "" = nowhere
  double max_seconds = 30;     // for a candidate, the first compilation of its kernels included
};

struct AutoChoice {
  std::unique_ptr<Device> device;  // null: none of the candidates
  std::string reason;              // why the first one that is there was not taken; empty where none is there
};

// Candidates in order. Each is tried on a thread of its own: one whose driver never answers is left behind there.
AutoChoice choose_device(const std::vector<AutoCandidate>& candidates,
                         const std::function<Result<std::unique_ptr<Device>>()>& make_trusted,
                         const AutoOptions& options);

}  // namespace pagoda::device
