// Which of a device's two sets of kernels makes a model's products: those for matrix units where a trial of them passed
// and they save time. The verdict is kept, so that a machine gives the same bits at every start.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "device/device.h"
#include "device/tensor_trial.h"

namespace pagoda::device {

struct ProductOptions {
  std::string verdict_folder;  // "" = nowhere, and then the usual kernels
  bool may_try = false;        // whether a trial may be made where no verdict is kept
  std::function<Result<std::unique_ptr<Device>>()> make_trusted;
  TrialOptions trial;
};

// Nothing on devices without matrix units, and on others where `shapes` have no weights of 16, 8 or 4 bits. Never
// fails: whatever goes wrong, the usual kernels stay in use, and the device's description says why.
//
// A verdict holds for the device, the texts of its kernels, the system's version and the shapes. Before a trial begins,
// its file says so; where the trial ends the process or never ends, later starts find that and do not try again.
void choose_products(Device& device, std::span<const ProductShape> shapes, const ProductOptions& options);

}  // namespace pagoda::device
