// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/stored/gpu_stored_test.cpp"
