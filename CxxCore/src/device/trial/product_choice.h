// Chooses which of a device's two sets of kernels computes a model's products: those for matrix units if a trial passed
// and they save time. The result is cached, so that a machine gives the same bits at every start.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "device/device.h"
#include "device/trial/tensor_trial.h"

namespace pagoda::device {

struct ProductOptions {
  std::string verdict_folder;  // "" = nowhere, and then the usual kernels
  bool may_try = false;        // whether to run a trial if no result is cached
  std::function<Result<std::unique_ptr<Device>>()> make_trusted;
  TrialOptions trial;
};

// Does nothing on devices without matrix units, or if `shapes` have no weights of 16, 8 or 4 bits. Never fails: on any
// error, the usual kernels stay in use, and the device's description says why.
//
// A result applies to the device, its kernel sources, the system's version and the shapes. The file records the start
// of a trial; if the trial ends the process or never ends, later starts find the record and do not try again.
void choose_products(Device& device, std::span<const ProductShape> shapes, const ProductOptions& options);

}  // namespace pagoda::device
