// The self-test: whether a device gives what another one gives for the ops of a hybrid model, in a fraction of a
// second.
#pragma once

#include "device/device.h"

namespace pagoda::device {

// Ok where `tested` agrees with `trusted` over a prompt and a next token; else device_error with the op that differs,
// or the device's own words where it cannot run one.
Status self_test(Device& tested, Device& trusted);

}  // namespace pagoda::device
