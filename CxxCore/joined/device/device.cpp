// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/auto_device.cpp"
#include "../../src/device/op_cost.cpp"
#include "../../src/device/optional_devices.cpp"
#include "../../src/device/registry.cpp"
#include "../../src/device/self_test.cpp"
