// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/intrinsics_simd_test.cpp"
