// The self-test: whether a device gives the same results as another one for the ops of a hybrid model, in a fraction of
// a second.
#pragma once

#include "device/device.h"

namespace pagoda::device {

// Ok if `tested` agrees with `trusted` over a prompt and a next token; otherwise device_error with the op that differs,
// or the device's own message if it cannot run one.
Status self_test(Device& tested, Device& trusted);

}  // namespace pagoda::device
