// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/cpu/cpu_device.cpp"
#include "../../src/device/cpu/cpu_encoder.cpp"
#include "../../src/device/cpu/dispatch.cpp"
#include "../../src/device/cpu/packed_weight.cpp"
#include "../../src/device/cpu/profile.cpp"
