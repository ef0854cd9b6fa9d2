// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/sample_whole.cpp"
