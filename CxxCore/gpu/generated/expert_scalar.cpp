// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/gpu/generated/expert_scalar.cpp"
