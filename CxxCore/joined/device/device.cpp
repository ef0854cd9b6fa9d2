// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/auto_device.cpp"
#include "../../src/device/op_cost.cpp"
#include "../../src/device/optional_devices.cpp"
#include "../../src/device/product_choice.cpp"
#include "../../src/device/registry.cpp"
#include "../../src/device/self_test.cpp"
#include "../../src/device/tensor_trial.cpp"
#include "../../src/device/trial_side.cpp"
