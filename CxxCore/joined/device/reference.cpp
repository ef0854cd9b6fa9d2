// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/reference/reference_device.cpp"
