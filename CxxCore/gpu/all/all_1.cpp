// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/counting.cpp"
#include "../../src/device/gpu/dry_device.cpp"
#include "../../src/device/gpu/gpu_device.cpp"
#include "../../src/device/gpu/gpu_encoder.cpp"
#include "../../src/device/gpu/hazards.cpp"
