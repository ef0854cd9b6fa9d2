// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/metal_steps_test.cpp"
